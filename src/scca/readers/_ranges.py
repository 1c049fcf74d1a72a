"""Parts of files of paired text, which can be read one by one, in different processes."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise
from typing import Any

import numpy as np

from ._files import PairError, Piped, check_regular
from ._lines import LinePairs, lines, lines_of
from ._paired import Source
from ._tables import TablePairs

__all__ = ["Range", "document_ranges", "ranges_of"]

_CHUNK = 1 << 25  # bytes in which the line ends of a file are counted by a task


@dataclass(frozen=True)
class LineRange:
    """`count` lines of a file: `skip` line ends after `offset`, with `before` lines before them."""

    path: str
    offset: int
    skip: int
    before: int
    count: int

    def lines(self) -> Iterator[str]:
        with open(self.path, "rb") as stream:
            stream.seek(self.offset)
            for _ in range(self.skip):
                stream.readline()
            start = stream.tell()
            yield from islice(lines_of(stream, self.path, before=self.before, offset=start), self.count)


@dataclass(frozen=True)
class TwoFiles:
    """The same lines of two files."""

    first: LineRange
    second: LineRange

    def pairs(self) -> Iterator[tuple[str | None, str | None]]:
        return zip(self.first.lines(), self.second.lines(), strict=True)

    def place(self, side: int, position: int) -> str:
        part = self.second if side else self.first
        return f"line {part.before + position + 1} of {part.path}"


@dataclass(frozen=True)
class TableRows:
    """Lines of a tab-separated table without its header, which has `width` columns."""

    lines: LineRange
    columns: tuple[int, int]
    names: tuple[str, str]
    width: int

    def pairs(self) -> Iterator[tuple[str | None, str | None]]:
        for number, line in enumerate(self.lines.lines(), self.lines.before + 1):
            fields = line.split("\t")
            if len(fields) != self.width:
                raise PairError(
                    f"Data row {number - 1} of {self.lines.path} (line {number}) has {len(fields)} fields and the "
                    f"header has {self.width}; add or quote fields so that they agree."
                )
            yield fields[self.columns[0]], fields[self.columns[1]]

    def place(self, side: int, position: int) -> str:
        return f"column {self.names[side]!r} in data row {self.lines.before + position} of {self.lines.path}"


@dataclass(frozen=True)
class Part:
    """Pairs `start` to `stop` of a file that can only be read from its beginning, such as a compressed one."""

    source: Any
    start: int
    stop: int | None

    def pairs(self) -> Iterator[tuple[str | None, str | None]]:
        return islice(self.source.pairs(), self.start, self.stop)

    def place(self, side: int, position: int) -> str:
        return self.source.place(side, self.start + position)


@dataclass(frozen=True)
class Documents:
    """Documents `start` to `stop` of one file that can only be read from its beginning."""

    path: Any
    start: int
    stop: int | None

    def lines(self) -> Iterator[str]:
        return islice(lines(self.path), self.start, self.stop)


Range = TwoFiles | TableRows | Part
Run = Callable[[Callable[..., Any], Sequence[tuple[Any, ...]]], list[Any]]  # a function, and its arguments for each job


def ranges_of(sources: Sequence[Source], n_blocks: int, run: Run) -> list[Range]:
    """The parts of all sources, in order, at least `n_blocks` if there are as many pairs.

    Plain files are divided by lines, wherever these begin; `run` counts them.
    """
    per_source = max(1, -(-n_blocks // len(sources)))
    found: list[Range] = []
    for source in sources:
        found += _divided(source, per_source, run)
    return found


def document_ranges(path: Any, n_parts: int, run: Run) -> list[LineRange | Documents]:
    """The parts of one file with a document per line."""
    if not _is_plain(path):
        return [Documents(path, 0, None)]
    index = _Index.of(path, run)
    return [index.lines(*bounds) for bounds in _even(0, index.n_lines, n_parts)]


def _divided(source: Any, n_parts: int, run: Run) -> list[Range]:
    if isinstance(source, LinePairs) and all(_is_plain(path) for path in source.paths):
        first, second = (_Index.of(path, run) for path in source.paths)
        if first.n_lines != second.n_lines:
            _refuse_uneven(source, first.n_lines, second.n_lines)
        return [TwoFiles(first.lines(*b), second.lines(*b)) for b in _even(0, first.n_lines, n_parts)]
    if isinstance(source, TablePairs) and _is_plain(source.path) and str(source.path).lower().endswith(".tsv"):
        index = _Index.of(source.path, run)
        header = source.header
        at = header.index(source.columns[0]), header.index(source.columns[1])
        return [
            TableRows(index.lines(*bounds), at, source.columns, len(header))
            for bounds in _even(1, index.n_lines, n_parts)
        ]
    if n_parts == 1:
        return [Part(source, 0, None)]
    (n,) = run(_n_pairs, [(source,)])
    return [Part(source, *bounds) for bounds in _even(0, n, n_parts)]


def _is_plain(path: Any) -> bool:
    return not isinstance(path, Piped) and path.suffix.lower() != ".gz"


def _refuse_uneven(source: LinePairs, first: int, second: int) -> None:
    longer = source.paths[0 if first > second else 1]
    raise PairError(
        f"{source.paths[0]} has {first} lines and {source.paths[1]} has {second}: line {min(first, second) + 1} of "
        f"{longer} has no mate; put both documents of a pair on the same line."
    )


def _even(start: int, stop: int, n_parts: int) -> list[tuple[int, int]]:
    return list(pairwise(np.linspace(start, stop, min(n_parts, max(1, stop - start)) + 1).astype(int).tolist()))


@dataclass(frozen=True, eq=False)
class _Index:
    """How many line ends come before each chunk of a file."""

    path: str
    before: np.ndarray
    n_lines: int

    @classmethod
    def of(cls, path: Any, run: Run) -> "_Index":
        check_regular(path)
        size = path.stat().st_size
        starts = range(0, size, _CHUNK)
        counts = run(_n_line_ends, [(str(path), start, _CHUNK) for start in starts])
        with open(path, "rb") as file:
            file.seek(size - 1)
            unfinished = file.read(1) != b"\n"
        before = np.cumsum([0, *counts])
        return cls(str(path), before[:-1], int(before[-1]) + unfinished)

    def lines(self, start: int, stop: int) -> LineRange:
        """Lines start:stop; the one that starts a chunk may have begun in the chunk before."""
        chunk = max(0, int(np.searchsorted(self.before, start, side="left")) - 1)
        return LineRange(self.path, chunk * _CHUNK, start - int(self.before[chunk]), start, stop - start)


def _n_line_ends(path: str, start: int, length: int) -> int:
    with open(path, "rb") as file:
        file.seek(start)
        return file.read(length).count(b"\n")


def _n_pairs(source: Source) -> int:
    return sum(1 for _ in source.pairs())
