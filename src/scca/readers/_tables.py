"""Documents in columns of a .csv or .tsv file with a header row; every field is text, even "NA" and "null"."""

import csv
from collections.abc import Generator, Iterable, Iterator
from contextlib import closing
from pathlib import Path

from .._checks import shown
from .._wording import counted, setting, spelled
from ._files import PairError, Piped
from ._lines import LONGEST_DOCUMENT, lines
from ._texts import Row, Source

__all__ = ["TableColumns", "choose_columns"]

_MOST_NAMES_LISTED = 20  # columns named in a message
_MOST_WORDS_OF_NAME = 4  # a longer field in the first row is a document: there is no header


class TableColumns(Source):
    """Columns of a table of text, one for each view."""

    def __init__(self, path: Path | Piped, columns: tuple[str, ...] | None, tabs: bool):
        self.path = path
        self._fields = _tsv_rows if tabs else _csv_rows
        _, self.header = next(self._fields(path))
        self.columns = choose_columns(path, self.header, columns)

    def place(self, view: int, position: int) -> str:
        return f"column {self.columns[view]!r} in data row {position + 1} of {self.path}"

    def rows(self) -> Iterator[Row]:
        with closing(self._fields(self.path)) as fields:
            next(fields)
            yield from self.rows_of(fields)

    def rows_of(self, fields: Iterable[tuple[int, list[str]]], first: int = 1) -> Iterator[Row]:
        """The documents in data rows, each given by its line number and fields; the first of them is row `first`."""
        chosen = [self.header.index(column) for column in self.columns]
        for number, (line, row) in enumerate(fields, first):
            # too many fields are as bad as too few: an unquoted separator has split a text
            if len(row) != len(self.header):
                raise PairError(
                    f"Data row {number} of {self.path} (line {line}) has {counted(len(row), 'field')} and the "
                    f"header has {len(self.header)}; add or quote fields so that they agree."
                )
            yield tuple(row[column] for column in chosen)


def choose_columns(path: Path | Piped, names: list[str], columns: tuple[str, ...] | None) -> tuple[str, ...]:
    """The requested columns, or the only two that there are."""
    listed = ", ".join(map(shown, names[:_MOST_NAMES_LISTED])) + (", ..." if len(names) > _MOST_NAMES_LISTED else "")
    if columns is None:
        if len(names) < 2:
            raise PairError(
                f"{path} has {counted(len(names), 'column')} ({listed}), but two are needed; check the file and its "
                "column separator."
            )
        if len(names) != 2:
            raise PairError(
                f"{path} has {counted(len(names), 'column')} ({listed}); pass {setting('columns')} with the names "
                "of two or more."
            )
        columns = (names[0], names[1])
        prose = [name for name in names if len(name.split()) > _MOST_WORDS_OF_NAME]
        if prose:
            raise PairError(
                f"{path} seems to have no header row, since its first field is {prose[0][:30]!r}...; add a row with "
                "the names of the columns."
            )
    for column in columns:
        if names.count(column) != 1:
            complaint = "has no column" if column not in names else "has more than one column"
            raise PairError(
                f"{path} {complaint} {shown(column)} among {listed}; pass {setting('columns')} with "
                f"{spelled(len(columns))} unique names."
            )
    return columns


def _tsv_rows(path: Path | Piped) -> Generator[tuple[int, list[str]], None, None]:
    # no quoting at all (csv's QUOTE_NONE): a stray quote must never swallow the next lines
    with closing(lines(path)) as content:
        for number, line in enumerate(content, 1):
            yield number, line.split("\t")


def _csv_rows(path: Path | Piped) -> Generator[tuple[int, list[str]], None, None]:
    # csv's limit belongs to the whole process, so it is raised but never lowered
    csv.field_size_limit(max(csv.field_size_limit(), LONGEST_DOCUMENT))
    # strict, since csv otherwise silently takes everything after an unclosed quote as one field
    with closing(lines(path, ends=True)) as content:
        reader = csv.reader(content, strict=True)
        line = 1
        try:
            for row in reader:
                yield line, row
                line = reader.line_num + 1
        except csv.Error as error:
            raise PairError(
                f"{path} is not valid CSV in the row that starts at line {line} ({error}); quote fields that contain "
                "quotes, commas or line ends, and double the quotes inside."
            ) from error
