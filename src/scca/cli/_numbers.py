"""Recognising a table of numbers by its first lines; as text, `scca fit` would read only the labels of its rows."""

import csv
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

__all__ = ["NumberTable", "recognised"]

_SEPARATORS = ("\t", ";", ",", "|", " ", "")  # a space is any white space; the last is for a single column
_STYLES = ((".", ""), (",", ""), (".", ","), (",", "."))  # marks of decimals and of thousands
_LEAST_ROWS = 3  # rows of numbers; fewer may be chance
_SHARE_OF_ROWS = 0.9  # share of the rows that must be rows of numbers
_SHARE_OF_FIELDS = 0.8  # share of the fields that must be numbers; a table may have a few columns of text
_SHARE_OF_A_ROW = 0.5  # share of the fields of a row of numbers; the others may be words for missing cells
_PANDAS_MISSING = frozenset(  # what pandas reads as missing by itself
    ["", "#N/A", "#NA", "<NA>", "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null", "-NaN", "-nan"]
)
_MISSING = _PANDAS_MISSING | {"?", ".", "-", "--", "*"}
_MOST_MISSING_MARKS = 8  # at most so many other marks of missing cells are listed in `na_values`
_ID_NAME = re.compile(r"(.*[\W_])?(id|index)", re.IGNORECASE)
_WHOLE_NUMBER = re.compile(r"[+-]?[0-9]*")
_NUMBER, _GAP, _TEXT = range(3)


@dataclass(frozen=True)
class NumberTable:
    """A table of numbers, as its first rows show it.

    Attributes
    ----------
    names : list of str or None
        The names of all columns; None without a header row.
    labels : list of str or None
        The first column, if it only names the rows.
    numeric, missing : list of bool
        Whether each column, except that of the labels, has numbers, and whether some of its cells are missing.
    options : dict
        Arguments by which `pandas.read_csv` reads the table.
    """

    names: list[str] | None
    labels: list[str] | None
    numeric: list[bool]
    missing: list[bool]
    options: dict[str, object]


@dataclass(frozen=True)
class _Format:
    """How fields are separated and how numbers are written."""

    separator: str
    decimal: str
    thousands: str

    @property
    def number(self) -> re.Pattern[str]:
        whole = r"(?!0[0-9]+$)[0-9]+"  # an integer that begins with 0 is a code
        if self.thousands:
            whole = rf"(?:{whole}|[0-9]{{1,3}}(?:{re.escape(self.thousands)}[0-9]{{3}})+)"
        mark = re.escape(self.decimal)
        return re.compile(rf"[+-]?(?:{whole}(?:{mark}[0-9]*)?|{mark}[0-9]+)(?:[eE][+-]?[0-9]+)?")


def recognised(lines: Sequence[str], chosen: Sequence[str] | None = None) -> NumberTable | None:
    """The table that begins with these lines, or two columns of it; None unless nearly all fields are numbers."""
    content = [line for line in lines if line.strip() and not line.startswith("#")]
    if len(content) < _LEAST_ROWS:
        return None
    for separator in _SEPARATORS:
        try:
            rows = [_fields(line, separator) for line in content]
        except csv.Error:
            continue
        if chosen is not None:
            if not set(chosen) <= set(rows[0]):
                continue
            places = [rows[0].index(name) for name in chosen]
            rows = [[row[place] for place in places if place < len(row)] for row in rows]
        width = Counter(map(len, rows[1:])).most_common(1)[0][0]
        if separator and width < 2:
            continue
        # documents may be lists of numbers, such as codes of their words, but unlike rows they differ in length
        if separator == " " and _share(len(row) == width for row in rows[1:]) < _SHARE_OF_ROWS:
            continue
        formats = (_Format(separator, *style) for style in _STYLES)
        found = [read for each in formats if (read := _table(rows, width, each, chosen is not None)) is not None]
        if found:
            _, table = max(found, key=lambda share_and_table: share_and_table[0])
            table.options.update(_options_of_lines(lines, content, separator))
            return table
    return None


def _share(cases: Iterable[bool]) -> float:
    cases = list(cases)
    return sum(cases) / max(1, len(cases))


def _fields(line: str, separator: str) -> list[str]:
    """The fields of one line, read by itself: in text, a stray quote must not swallow the lines that follow."""
    if not separator:
        return [line.strip()]
    line = " ".join(line.split()) if separator == " " else line
    return [field.strip() for field in next(csv.reader([line], delimiter=separator))]


def _table(rows: list[list[str]], width: int, written: _Format, are_chosen: bool) -> tuple[float, NumberTable] | None:
    """The share of numbers, and the table; None if the share is too small. Chosen columns are no labels."""
    number = written.number
    kinds = [[_kind(field, number) for field in row] for row in rows]
    is_labelled = not are_chosen and width > 1 and _share(row[:1] == [_TEXT] for row in kinds[1:]) > 0.5
    if is_labelled and written.separator == " " and width < 3:  # "Psalm 23"
        return None
    header = rows[0] if are_chosen else _header(rows, kinds[0], width, is_labelled)
    if header is not None:
        rows, kinds = rows[1:], kinds[1:]
        is_labelled = is_labelled or (not are_chosen and width > 1 and _names_labels(header, rows, width))
    bodies = [row[is_labelled:] for row in kinds]
    share = _share(kind != _TEXT for body in bodies for kind in body)
    if share < _SHARE_OF_FIELDS or sum(map(_are_numbers, bodies)) < max(_LEAST_ROWS, _SHARE_OF_ROWS * len(bodies)):
        return None
    columns = [Counter(body[j] for body in bodies if j < len(body)) for j in range(width - is_labelled)]
    numeric = [counts[_NUMBER] > 0 and counts[_TEXT] <= (1 - _SHARE_OF_FIELDS) * len(bodies) for counts in columns]
    missing = [counts[_NUMBER] < len(bodies) for counts in columns]
    cells = [cell for row in rows for is_number, cell in zip(numeric, row[is_labelled:], strict=False) if is_number]
    options = _options_of_cells(cells, written)
    if header is None:
        options["header"] = None
    if is_labelled and (header is None or len(header) == width):  # a shorter header tells pandas of the labels
        options["index_col"] = 0
    names = header if header is None or len(header) == width else ["", *header]
    labels = [row[0] for row in rows] if is_labelled else None
    return share, NumberTable(names, labels, numeric, missing, options)


def _kind(field: str, number: re.Pattern[str]) -> int:
    if number.fullmatch(field):
        return _NUMBER
    return _GAP if field in _MISSING else _TEXT


def _are_numbers(kinds: Sequence[int]) -> bool:
    return _NUMBER in kinds and sum(kind != _TEXT for kind in kinds) >= _SHARE_OF_A_ROW * len(kinds)


def _header(rows: list[list[str]], kinds: list[int], width: int, is_labelled: bool) -> list[str] | None:
    """The first row, if it names the columns: by text, by an empty field above the labels, or by rising integers."""
    first = rows[0]
    if len(first) not in (width, width - 1) or not first:
        return None
    start = int(is_labelled and len(first) == width)
    if not _are_numbers(kinds[start:]) or (width > 1 and not first[0]):
        return first
    if len(first) - start < 2 or not all(re.fullmatch("[0-9]{1,6}", field) for field in first[start:]):
        return None
    numbers = [int(field) for field in first[start:]]
    if len(numbers) > 2 and numbers in ([*range(len(numbers))], [*range(1, len(numbers) + 1)]):
        return first
    if any(a >= b for a, b in pairwise(numbers)):
        return None
    is_whole = (all(_WHOLE_NUMBER.fullmatch(field) for field in row[1:]) for row in rows[1:])
    return first if _share(is_whole) < 1 - _SHARE_OF_ROWS else None  # years above measurements


def _names_labels(header: list[str], rows: list[list[str]], width: int) -> bool:
    """Whether the header says that the first column has labels, although these are numbers."""
    if len(header) < width or not header[0]:
        return True
    return _ID_NAME.fullmatch(header[0]) is not None and len({row[0] for row in rows}) == len(rows)


def _options_of_cells(cells: list[str], written: _Format) -> dict[str, object]:
    """The arguments by which pandas reads the numbers and missing cells, where its defaults do not."""
    options: dict[str, object] = {}
    numbers = [cell for cell in cells if written.number.fullmatch(cell)]
    if written.decimal != "." and any(written.decimal in cell for cell in numbers):
        options["decimal"] = written.decimal
    if written.thousands and any(written.thousands in cell for cell in numbers):
        options["thousands"] = written.thousands
    unread = Counter(cell for cell in cells if cell not in _PANDAS_MISSING) - Counter(numbers)
    if unread:
        options["na_values"] = sorted(cell for cell, _ in unread.most_common(_MOST_MISSING_MARKS))
    return options


def _options_of_lines(lines: Sequence[str], content: list[str], separator: str) -> dict[str, object]:
    """The arguments by which pandas reads the lines, where its defaults do not."""
    options: dict[str, object] = {}
    if separator not in (",", ""):
        options["sep"] = r"\s+" if separator == " " else separator
    if separator in (";", ",", "|") and any(f"{separator} " in line for line in content):
        options["skipinitialspace"] = True
    if any(line.startswith("#") for line in lines):
        options["comment"] = "#"
    if not separator and any(not line.strip() for line in lines):  # in a single column, a missing cell
        options["skip_blank_lines"] = False
    return options
