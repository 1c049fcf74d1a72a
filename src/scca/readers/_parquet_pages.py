"""Unpacked sizes of the pages of a Parquet column, from their headers.

pyarrow tells only the totals in the footer of the file, and these may be false: it reads a file of 46 kB whose footer
claims 1,000 bytes, and takes 4.4 GB for it. A page's header is a structure of Thrift's compact protocol.
"""

from collections.abc import Iterator
from typing import Any, BinaryIO

__all__ = ["page_sizes"]

_MOST_NESTED = 8  # levels of structures; a page's header has three
_UNPACKED_SIZE, _PACKED_SIZE = 2, 3  # fields of a page's header
_BOOLEANS, _BYTE, _INTEGERS, _DOUBLE, _BINARY, _LISTS, _STRUCTURE = (1, 2), 3, (4, 5, 6), 7, 8, (9, 10), 12  # types


def page_sizes(file: BinaryIO, column: Any) -> Iterator[int]:
    """The unpacked size in bytes of each page of a column of a row group, found where pyarrow would look for it."""
    starts = [column.data_page_offset]
    if column.has_dictionary_page and column.dictionary_page_offset:
        starts.append(column.dictionary_page_offset)
    place = min(starts)
    end = place + column.total_compressed_size
    while place < end and column.num_values:  # without values, pyarrow reads no page
        file.seek(place)
        header = _integer_fields(file)
        unpacked, packed = header.get(_UNPACKED_SIZE, -1), header.get(_PACKED_SIZE, -1)
        if unpacked < 0 or packed < 0:
            raise ValueError(f"the page at byte {place} has no size")
        yield unpacked
        place = file.tell() + packed


def _integer_fields(file: BinaryIO, depth: int = 0) -> dict[int, int]:
    """Read a structure: its integer fields by their numbers, without all others."""
    if depth > _MOST_NESTED:
        raise ValueError("a page's header is nested too deeply")
    found, field = {}, 0
    while kind := _byte(file):
        field = field + (kind >> 4) if kind >> 4 else _integer(file)
        value = _value(file, kind & 15, depth)
        if value is not None:
            found[field] = value
    return found


def _value(file: BinaryIO, kind: int, depth: int) -> int | None:
    """Read a value of this type; None unless it is an integer."""
    if kind == _BYTE:
        return _byte(file)
    if kind in _INTEGERS:
        return _integer(file)
    if kind == _DOUBLE:
        file.seek(8, 1)
    elif kind == _BINARY:
        file.seek(_unsigned(file), 1)
    elif kind in _LISTS:
        start = _byte(file)
        for _ in range(start >> 4 if start >> 4 < 15 else _unsigned(file)):
            _value(file, start & 15, depth + 1)
    elif kind == _STRUCTURE:
        _integer_fields(file, depth + 1)
    elif kind not in _BOOLEANS:  # whose type is their value
        raise ValueError(f"a page's header has a field of unknown type {kind}")
    return None


def _byte(file: BinaryIO) -> int:
    byte = file.read(1)
    if not byte:
        raise ValueError("a page's header is cut off")
    return byte[0]


def _unsigned(file: BinaryIO) -> int:
    number = 0
    for shift in range(0, 70, 7):
        byte = _byte(file)
        number |= (byte & 127) << shift
        if byte < 128:
            return number
    raise ValueError("a page's header has an endless number")


def _integer(file: BinaryIO) -> int:
    number = _unsigned(file)
    return (number >> 1) ^ -(number & 1)
