"""Documents in line-aligned UTF-8 files: lines i of all files belong together."""

import codecs
import sys
from collections.abc import Generator, Iterator, Sequence
from contextlib import ExitStack, closing
from itertools import zip_longest
from pathlib import Path
from typing import BinaryIO

from .._wording import counted, joined
from ._files import PairError, Piped, opened
from ._texts import Row, Source, row_word

__all__ = ["LONGEST_DOCUMENT", "LineFiles", "lines", "lines_of", "lines_once"]

LONGEST_DOCUMENT = 8 * 2**20  # bytes of a line, field or unit: a longer one indicates a broken file

_OTHER_ENCODINGS = (  # UTF-32 first: its little-endian byte order mark starts with that of UTF-16
    (codecs.BOM_UTF32_LE, "UTF-32"),
    (codecs.BOM_UTF32_BE, "UTF-32"),
    (codecs.BOM_UTF16_LE, "UTF-16"),
    (codecs.BOM_UTF16_BE, "UTF-16"),
)
_GZIP = b"\x1f\x8b"


def lines(path: Path | Piped, *, ends: bool = False) -> Generator[str, None, None]:
    """Stream the lines of a plain or .gz file, with their line ends if `ends`."""
    with opened(path) as stream:
        yield from lines_of(stream, str(path), ends=ends)


def lines_once(path: Path) -> Generator[str, None, None]:
    """Stream the lines of a file that is read only once, such as those of a pipe as they come."""
    if str(path) == "-":
        yield from lines_of(sys.stdin.buffer, "standard input")
    elif path.is_fifo() and path.suffix.lower() != ".gz":
        with open(path, "rb") as stream:
            yield from lines_of(stream, str(path))
    else:
        yield from lines(Piped(path) if path.is_fifo() else path)


def lines_of(stream: BinaryIO, name: str, *, ends: bool = False, before: int = 0, offset: int = 0) -> Iterator[str]:
    r"""Stream the lines of a binary stream, called `name` in error messages.

    Lines end at \n only. Python's text files also end them at a lone \r, and `str.splitlines` at U+2028 and U+0085,
    which would shift all later lines. A stream that does not start at the beginning of its file has `before` lines and
    `offset` bytes before it.
    """
    number = before
    while raw := stream.readline(LONGEST_DOCUMENT + 8):  # room for a byte order mark and a line end
        number += 1
        start = offset
        offset += len(raw)
        if number == 1:
            _check_start(raw, name)
            if raw.startswith(codecs.BOM_UTF8):
                raw = raw[len(codecs.BOM_UTF8) :]
                start += len(codecs.BOM_UTF8)
        line = raw[: -2 if raw.endswith(b"\r\n") else -1] if raw.endswith(b"\n") else raw
        if len(line) > LONGEST_DOCUMENT:
            raise PairError(
                f"Line {number} of {name} is longer than {LONGEST_DOCUMENT // 2**20} MiB; check that documents are "
                "separated by line ends."
            )
        nul = line.find(b"\0")
        if nul >= 0:
            raise PairError(
                f"Line {number} of {name} has a NUL byte (0x00 at offset {start + nul}); convert the file to UTF-8 "
                "text if it is UTF-16 or binary, or remove the byte."
            )
        try:
            yield (raw if ends else line).decode("utf-8")
        except UnicodeDecodeError as error:
            raise PairError(
                f"{name} is not UTF-8: byte 0x{raw[error.start]:02x} at offset {start + error.start} (line {number}) "
                "cannot be decoded; convert the file to UTF-8."
            ) from error
    if number == 0:
        raise PairError(f"{name} is empty; name a file with at least one document.")


class LineFiles(Source):
    """Files of text that are aligned line by line, one for each view."""

    def __init__(self, paths: Sequence[Path | Piped]):
        self.paths = tuple(paths)

    def __str__(self) -> str:
        return joined([*map(str, self.paths)])

    def place(self, view: int, position: int) -> str:
        return f"line {position + 1} of {self.paths[view]}"

    def documents(self, view: int) -> Generator[str, None, None]:
        return lines(self.paths[view])

    def rows(self) -> Iterator[Row]:
        with ExitStack() as stack:
            streams = [stack.enter_context(closing(self.documents(view))) for view in range(len(self.paths))]
            for number, row in enumerate(zip_longest(*streams)):
                if None in row:
                    read = [number + (document is not None) for document in row]
                    raise self.uneven([n + sum(1 for _ in rest) for n, rest in zip(read, streams, strict=True)])
                yield row

    def uneven(self, counts: Sequence[int]) -> PairError:
        """The error for files with different numbers of lines."""
        longer, shorter = self.paths[counts.index(max(counts))], self.paths[counts.index(min(counts))]
        first, *others = zip(self.paths, counts, strict=True)
        said = [f"{first[0]} has {counted(first[1], 'line')}", *(f"{path} has {count}" for path, count in others)]
        lack, all_ = ("", "both") if len(counts) == 2 else (f" in {shorter}", "all")
        return PairError(
            f"{joined(said)}: line {min(counts) + 1} of {longer} has no mate{lack}; put {all_} documents of a "
            f"{row_word(len(counts))} on the same line."
        )


def _check_start(raw: bytes, name: str) -> None:
    for mark, encoding in _OTHER_ENCODINGS:
        if raw.startswith(mark):
            raise PairError(f"{name} is encoded in {encoding}, as its first bytes say; convert it to UTF-8.")
    if raw.startswith(_GZIP):
        raise PairError(f"{name} is compressed by gzip; decompress it, or give it a name that ends in .gz.")
