"""Ranges of the samples in files, each of which can be read in another process."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

import numpy as np

from ._files import Piped, check_regular, opened
from ._lines import LineFiles, lines_of
from ._tables import TableColumns
from ._texts import Row, Source

__all__ = ["LineRange", "Range", "document_ranges", "even_bounds", "ranges_of"]

_CHUNK = 1 << 25  # bytes in which a task counts the line ends of a file

Run = Callable[[Callable[..., Any], Sequence[tuple[Any, ...]]], list[Any]]  # calls a function for a list of arguments


@dataclass(frozen=True)
class LineRange:
    """`count` lines of a file (None: all), from `skip` line ends after byte `offset`; `before` lines precede them."""

    path: Path
    offset: int = 0
    skip: int = 0
    before: int = 0
    count: int | None = None

    def lines(self) -> Iterator[str]:
        with opened(self.path) as stream:
            if self.offset:  # what gzip unpacks cannot be sought
                stream.seek(self.offset)
            start = self.offset + sum(len(stream.readline()) for _ in range(self.skip))
            yield from islice(lines_of(stream, str(self.path), before=self.before, offset=start), self.count)


@dataclass(frozen=True)
class Range:
    """Samples `start` to `stop` of a source that can only be read from its beginning, such as a compressed file."""

    source: Any
    start: int
    stop: int | None

    def rows(self) -> Iterator[Row]:
        return islice(self.source.rows(), self.start, self.stop)

    def place(self, view: int, position: int) -> str:
        """Where a document of this range is, for messages."""
        return self.source.place(view, self.start + position)


@dataclass(frozen=True)
class _RangeOfLines(Range):
    """The same lines of plain files."""

    files: tuple[LineRange, ...]

    def rows(self) -> Iterator[Row]:
        return zip(*(file.lines() for file in self.files), strict=True)


@dataclass(frozen=True)
class _RangeOfTable(Range):
    """Rows of a plain tab-separated table."""

    part: LineRange

    def rows(self) -> Iterator[Row]:
        lines = enumerate(self.part.lines(), self.part.before + 1)
        return self.source.rows_of(((number, line.split("\t")) for number, line in lines), self.start + 1)


def ranges_of(sources: Sequence[Source], n_ranges: int, run: Run) -> list[Range]:
    """Ranges of all samples of the sources, in order: at least `n_ranges` if there are as many samples.

    Plain files are divided by their lines, which `run` counts.
    """
    of_source = max(1, -(-n_ranges // len(sources)))
    return [found for source in sources for found in _ranges_of(source, of_source, run)]


def document_ranges(path: Path, n_ranges: int, run: Run) -> list[LineRange]:
    """Ranges of the documents in a file with one document per line; a compressed file is one range."""
    if not _is_plain(path):
        return [LineRange(path)]
    index = _LineIndex.of(path, run)
    return [index.lines(*bounds) for bounds in even_bounds(0, index.n_lines, n_ranges)]


def even_bounds(start: int, stop: int, n_parts: int) -> list[tuple[int, int]]:
    """The bounds of at most `n_parts` nonempty parts of start:stop that have about as many numbers each."""
    return list(pairwise(np.linspace(start, stop, min(n_parts, max(1, stop - start)) + 1).astype(int).tolist()))


def _ranges_of(source: Any, n_ranges: int, run: Run) -> Sequence[Range]:
    if isinstance(source, LineFiles) and all(map(_is_plain, source.paths)):
        indexes = [_LineIndex.of(path, run) for path in source.paths]
        counts = [index.n_lines for index in indexes]
        if len(set(counts)) > 1:
            raise source.uneven(counts)
        return [
            _RangeOfLines(source, start, stop, tuple(index.lines(start, stop) for index in indexes))
            for start, stop in even_bounds(0, counts[0], n_ranges)
        ]
    if isinstance(source, TableColumns) and _is_plain(source.path) and source.path.suffix.lower() == ".tsv":
        index = _LineIndex.of(source.path, run)
        return [
            _RangeOfTable(source, start, stop, index.lines(start + 1, stop + 1))  # the header is line 0
            for start, stop in even_bounds(0, index.n_lines - 1, n_ranges)
        ]
    if n_ranges == 1:
        return [Range(source, 0, None)]
    (n_rows,) = run(_n_rows, [(source,)])
    return [Range(source, start, stop) for start, stop in even_bounds(0, n_rows, n_ranges)]


def _is_plain(path: Path | Piped) -> bool:
    return not isinstance(path, Piped) and path.suffix.lower() != ".gz"


@dataclass(frozen=True, eq=False)
class _LineIndex:
    """How many line ends come before each chunk of a file."""

    path: Path
    before: np.ndarray
    n_lines: int

    @classmethod
    def of(cls, path: Any, run: Run) -> "_LineIndex":
        check_regular(path)
        size = path.stat().st_size
        counts = run(_n_line_ends, [(path, start, _CHUNK) for start in range(0, size, _CHUNK)])
        before = np.cumsum([0, *counts])
        has_unfinished_line = _n_line_ends(path, size - 1, 1) == 0
        return cls(path, before[:-1], int(before[-1]) + has_unfinished_line)

    def lines(self, start: int, stop: int) -> LineRange:
        """Lines start:stop; the line at which a chunk starts may have begun in the chunk before."""
        chunk = max(0, int(np.searchsorted(self.before, start, side="left")) - 1)
        return LineRange(self.path, chunk * _CHUNK, start - int(self.before[chunk]), start, stop - start)


def _n_line_ends(path: Path, start: int, length: int) -> int:
    with open(path, "rb") as file:
        file.seek(start)
        return file.read(length).count(b"\n")


def _n_rows(source: Source) -> int:
    return sum(1 for _ in source.rows())
