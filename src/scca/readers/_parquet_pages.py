"""Unpacked sizes of the pages of a Parquet column, from their headers: the totals in the footer may be false."""

from collections.abc import Iterator
from typing import Any, BinaryIO

__all__ = ["page_sizes"]

_DEEPEST = 8  # levels of nested structures; a page's header has three
_UNPACKED, _PACKED = 2, 3  # fields of a page's header
_INTEGERS, _DOUBLE, _BINARY, _LISTS, _STRUCT = (3, 4, 5, 6), 7, 8, (9, 10), 12  # types of Thrift's compact protocol


def page_sizes(file: BinaryIO, column: Any) -> Iterator[int]:
    """The unpacked size in bytes of each page of a column of a row group; pages are located as by pyarrow."""
    starts = [column.data_page_offset]
    if column.has_dictionary_page and column.dictionary_page_offset:
        starts.append(column.dictionary_page_offset)
    place = min(starts)
    end = place + column.total_compressed_size
    while place < end and column.num_values:  # without values, pyarrow reads no page
        file.seek(place)
        header = _struct(file)
        unpacked, packed = header.get(_UNPACKED, -1), header.get(_PACKED, -1)
        if unpacked < 0 or packed < 0:
            raise ValueError(f"the page at byte {place} has no size")
        yield unpacked
        place = file.tell() + packed


def _struct(file: BinaryIO, depth: int = 0) -> dict[int, int]:
    """The integer fields of a structure; others are skipped."""
    if depth > _DEEPEST:
        raise ValueError("a page's header is nested too deeply")
    found, field = {}, 0
    while kind := _byte(file):
        field = field + (kind >> 4) if kind >> 4 else _integer(file)
        value = _value(file, kind & 15, depth)
        if value is not None:
            found[field] = value
    return found


def _value(file: BinaryIO, kind: int, depth: int) -> int | None:
    if kind in _INTEGERS:
        return _byte(file) if kind == _INTEGERS[0] else _integer(file)
    if kind == _DOUBLE:
        file.seek(8, 1)
    elif kind == _BINARY:
        file.seek(_number(file), 1)
    elif kind in _LISTS:
        start = _byte(file)
        for _ in range(start >> 4 if start >> 4 < 15 else _number(file)):
            _value(file, start & 15, depth + 1)
    elif kind == _STRUCT:
        _struct(file, depth + 1)
    elif kind not in (1, 2):  # true and false, whose type is their value
        raise ValueError(f"a page's header has a field of unknown type {kind}")
    return None


def _byte(file: BinaryIO) -> int:
    byte = file.read(1)
    if not byte:
        raise ValueError("a page's header is cut off")
    return byte[0]


def _number(file: BinaryIO) -> int:
    number = 0
    for shift in range(0, 70, 7):
        byte = _byte(file)
        number |= (byte & 127) << shift
        if byte < 128:
            return number
    raise ValueError("a page's header has an endless number")


def _integer(file: BinaryIO) -> int:
    number = _number(file)
    return (number >> 1) ^ -(number & 1)
