"""`scca fit` reads text: it refuses tables of numbers, and prints the lines of Python that fit them."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from .._checks import DataWarning, silenced
from .._wording import joined, ordinal
from ..readers import PairError, Piped, stream_documents
from ._numbers import NumberTable, recognised
from ._terminal import AdvisedError

__all__ = ["refuse_numbers"]

_MOST_LINES, _MOST_CHARACTERS = 1000, 2**21  # a file is judged by its first lines, or by fewer if they are long
_LEAST_LINES = 8  # however long they are
_LEAST_NUMERIC = 0.8  # share of the columns of a Parquet file


@dataclass(frozen=True)
class _Text:
    """A file of text."""

    path: Path | Piped
    name: str

    def lines(self, variable: str) -> Iterator[str]:
        yield f"{variable} = scca.text.TextVectorizer().fit_transform(scca.text.read_documents({self.name}))"


@dataclass(frozen=True)
class _Numbers:
    """A file of numbers, or two columns of it."""

    path: Path | Piped
    name: str
    table: NumberTable
    function: str = "read_csv"
    then: str = ""

    def lines(self, variable: str) -> Iterator[str]:
        """The lines of Python that read its columns of numbers."""
        options = "".join(f", {name}={_literal(value)}" for name, value in self.table.options.items())
        others = "" if all(self.table.numeric) else '.select_dtypes("number").dropna(axis=1, how="all")'
        stored = "  # store what came through the pipe there" if isinstance(self.path, Piped) else ""
        yield f"{variable} = pandas.{self.function}({self.name}{options}){self.then}{others}{stored}"
        if any(lacks for lacks, is_number in zip(self.table.missing, self.table.numeric, strict=True) if is_number):
            yield f"{variable} = {variable}.fillna({variable}.mean())  # a missing cell gets the mean of its column"


def refuse_numbers(
    paths: Sequence[Path | Piped], chosen: Sequence[str] | None, components: int | None, output: Path
) -> None:
    """Raise an error if files that are to be read as text hold numbers.

    `chosen` are the columns of a single file. Files that cannot be read are left to the reader, which reports why.
    """
    if len(paths) > 1:
        found = _of_files([_read(path, f"{ordinal(i)}.csv") for i, path in enumerate(paths, 1)])
    else:
        found = _of_one_file(paths[0], chosen)
    if found is None:
        return
    what, lines = found
    names = _variables(len(paths) if len(paths) > 1 else len(chosen or "XY"))
    fitted, given = ("SparseCCA", ", ".join(names)) if len(names) == 2 else ("MultiSparseCCA", f"[{', '.join(names)}]")
    raise AdvisedError(
        f"{what}, and scca fit reads only text unless --kind says otherwise; these lines of Python fit numbers:",
        [
            "import pandas",
            "import scca",
            *lines,
            f"model = scca.{fitted}({components or _literal('auto')}).fit({given})",
            f"scca.save(model, {_literal(str(output))})",
        ],
    )


def _variables(n_views: int) -> list[str]:
    return ["X", "Y"] if n_views == 2 else [f"X{v + 1}" for v in range(n_views)]


def _of_files(files: Sequence[_Text | _Numbers | None]) -> tuple[str, list[str]] | None:
    """What a file for each view holds."""
    known = [file for file in files if file is not None]
    numbers = [file for file in known if isinstance(file, _Numbers)]
    # beside a file of text, one number per line may be text too, such as numerals beside numbers that are spelt out
    if len(known) < len(files) or not any(
        sum(each.table.numeric) > 1 or len(numbers) == len(files) for each in numbers
    ):
        return None
    names = _variables(len(files))
    lines = [line for name, file in zip(names, known, strict=True) for line in file.lines(name)]
    labels = [file.table.labels or [] for file in numbers]
    are_unique = all(len(set(each)) == len(each) for each in labels)
    if len(numbers) == len(files) and are_unique and set(labels[0]).intersection(*labels[1:]):
        if len(files) == 2 and labels[0] != labels[1]:
            lines.append('X, Y = X.align(Y, join="inner", axis=0)  # the rows with the same labels')
        elif any(each != labels[0] for each in labels):
            shared = " & ".join(f"set({name}.index)" for name in names[1:])
            lines.append(
                f"rows = [row for row in {names[0]}.index if row in {shared}]  # the rows with the same labels"
            )
            lines.append(f"{', '.join(names)} = [each.loc[rows] for each in ({', '.join(names)})]")
    named = joined([str(file.path) for file in numbers])
    return f"{named} {'are tables' if len(numbers) > 1 else 'is a table'} of numbers", lines


def _of_one_file(path: Path | Piped, chosen: Sequence[str] | None) -> tuple[str, list[str]] | None:
    """What one file with all views holds."""
    if chosen is not None and isinstance(all_ := _read(path, "first.csv", chosen), _Numbers):
        if not all(all_.table.numeric):
            return None
        columns, names = list(map(_literal, chosen)), _variables(len(chosen))
        parts = ", ".join(f"table[[{column}]]" for column in columns)
        table = replace(all_, then=f"[[{', '.join(columns)}]]").lines("table")
        return f"columns {joined(columns)} of {path} are numbers", [*table, f"{', '.join(names)} = {parts}"]
    file = _read(path, "first.csv")
    if not isinstance(file, _Numbers) or sum(file.table.numeric) < 2 or (chosen is not None and file.table.names):
        return None
    half = (sum(file.table.numeric) + 1) // 2
    split = f"X, Y = table.iloc[:, :{half}], table.iloc[:, {half}:]  # the columns of each view: choose them"
    return f"{path} is a table of numbers", [*file.lines("table"), split]


def _read(path: Path | Piped, stored: str, chosen: Sequence[str] | None = None) -> _Text | _Numbers | None:
    """What a file, or two of its columns, begins with; `stored` is the name for what came through a pipe."""
    name = _literal(stored if isinstance(path, Piped) else str(path))
    try:
        if path.suffix.lower() == ".parquet" and isinstance(path, Path):
            return _read_parquet(path, name, chosen)
        table = recognised(_first_lines(path), chosen)
    except (PairError, ImportError, OSError):
        return None
    return _Text(path, name) if table is None else _Numbers(path, name, table)


def _first_lines(path: Path | Piped) -> list[str]:
    lines: list[str] = []
    size = 0
    with silenced(DataWarning):  # the reader itself will warn of blank lines
        for block in stream_documents(path, 1):
            lines += block
            size += len(block[0])
            if len(lines) >= _MOST_LINES or (size > _MOST_CHARACTERS and len(lines) >= _LEAST_LINES):
                break
    return lines


def _read_parquet(path: Path, name: str, chosen: Sequence[str] | None) -> _Numbers | None:
    """A Parquet file of numbers, by the types of its columns."""
    import pyarrow
    from pyarrow import parquet, types

    try:
        with parquet.ParquetFile(path) as file:
            schema, metadata = file.schema_arrow, file.metadata
    except pyarrow.ArrowException:
        return None
    columns = [c for c in chosen or schema.names if c in schema.names and not c.startswith("__index_level_")]
    kinds = [schema.field(column).type for column in columns]
    numeric = [types.is_integer(kind) or types.is_floating(kind) for kind in kinds]
    is_labelled = chosen is None and len(columns) > 1 and not numeric[0]
    of_table = numeric[is_labelled:]
    if not of_table or sum(of_table) < (1.0 if chosen else _LEAST_NUMERIC) * len(chosen or of_table):
        return None
    missing = [_lacks_values(metadata, column) for column in columns[is_labelled:]]
    table = NumberTable(columns, None, of_table, missing, {})
    then = f".set_index({_literal(columns[0])})" if is_labelled else ""
    return _Numbers(path, name, table, "read_parquet", then)


def _lacks_values(metadata: Any, name: str) -> bool:
    groups = map(metadata.row_group, range(metadata.num_row_groups))
    stored = (column for group in groups for column in map(group.column, range(group.num_columns)))
    return any(
        column.path_in_schema == name and column.statistics is not None and bool(column.statistics.null_count)
        for column in stored
    )


def _literal(value: object) -> str:
    """A value as a Python literal, with text in double quotes."""
    if isinstance(value, str):
        return f'r"{value}"' if value == r"\s+" else json.dumps(value, ensure_ascii=False)
    if isinstance(value, list):
        return f"[{', '.join(map(_literal, value))}]"
    return repr(value)
