"""Tables as plain aligned text."""

__all__ = ["print_table"]


def print_table(title: str, header: list[str], rows: list[list[str]]) -> None:
    """Print `rows` under `header`: the first column left-aligned, the others right-aligned."""
    widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
    print(f"\n{title}\n")
    for cells in [header, ["-" * width for width in widths], *rows]:
        first, *others = zip(cells, widths, strict=True)
        print("  ".join([first[0].ljust(first[1]), *(cell.rjust(width) for cell, width in others)]).rstrip())
