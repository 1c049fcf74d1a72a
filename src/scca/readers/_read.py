"""Reading paired text: two line-aligned files, a table, a Parquet file or a translation memory."""

from collections.abc import Iterator
from contextlib import closing
from itertools import islice
from os import PathLike
from pathlib import Path

from .._wording import setting
from ._files import PairError, Piped, readable
from ._lines import LinePairs, lines, lines_once
from ._paired import BlankCount, PairedText, Source, two_names, warn_of_blank
from ._parquet import ParquetPairs
from ._tables import TablePairs
from ._tmx import TmxPairs

__all__ = ["default_language", "read_documents", "read_pairs", "source_of", "stream_documents"]

_SUFFIXES = ".tsv, .csv, .tmx (each also with .gz) and .parquet"


def read_pairs(
    first: str | PathLike[str] | Piped,
    second: str | PathLike[str] | Piped | None = None,
    *,
    languages: tuple[str, str] | None = None,
    columns: tuple[str, str] | None = None,
    drop_empty: bool = False,
) -> PairedText:
    """Read pairs of documents from one file or from two.

    Everything is read once, to check it; the result then streams the documents from the files. Text must be UTF-8 and
    is left unchanged.

    Parameters
    ----------
    first : path or Piped
        With `second`, a text file with one document per line. Otherwise a table with a header row (.tsv without
        quoting, or .csv), a .parquet file, or a .tmx translation memory. All but .parquet may be compressed (.gz).
        "-" is standard input; alone it is a tab-separated table.
    second : path or Piped, optional
        The text file whose line i is the mate of line i of `first`.
    languages : tuple of two str, optional
        Labels of the two sides. In a translation memory they select the languages ("en" also matches "en-US"), and are
        required if there are more than two. By default the files' suffixes, the column names or the only two languages.
    columns : tuple of two str, optional
        Columns of a table; by default those named like `languages`, or the only two there are.
    drop_empty : bool, default=False
        Leave out pairs with a blank or missing side. Otherwise a blank document gives a `DataWarning`, and a missing
        one (a null, or an absent segment) is an error.

    Returns
    -------
    PairedText

    Raises
    ------
    PairError
        If a file cannot be read as pairs.
    """
    return PairedText(*source_of(first, second, languages, columns), drop_empty)


def source_of(
    first: str | PathLike[str] | Piped,
    second: str | PathLike[str] | Piped | None = None,
    languages: tuple[str, str] | None = None,
    columns: tuple[str, str] | None = None,
) -> tuple[Source, tuple[str, str]]:
    """The source of the pairs of `read_pairs`, and the labels of its two sides."""
    languages = None if languages is None else two_names(languages, "languages")
    columns = None if columns is None else two_names(columns, "columns")
    path = first.path if isinstance(first, Piped) else Path(first)
    if second is not None and str(first) == str(second) == "-":
        raise PairError("standard input (-) can be only one of the two files; name the other.")
    kind = "" if second is not None else Path(path.stem if path.suffix.lower() == ".gz" else path.name).suffix.lower()
    source = readable(first)
    if isinstance(source, Piped) and second is None and kind not in (".tsv", ".csv", ".tmx", ".parquet"):
        kind = _kind_of_pipe(source)
    if columns and kind not in (".tsv", ".csv", ".parquet"):
        raise PairError(
            f"{setting('columns', columns)} is for tables (.tsv, .csv, .parquet), which {source} is not; leave it out."
        )
    if second is not None:
        other = readable(second)
        return LinePairs(source, other), languages or _default_languages(source, other)
    if kind in (".tsv", ".csv"):
        table = TablePairs(source, columns or languages, tabs=kind == ".tsv")
        return table, languages or table.columns
    if kind == ".parquet" and path.suffix.lower() != ".gz":  # refuses pipes: Parquet is read from its end
        parquet = ParquetPairs(path, columns or languages)
        return parquet, languages or parquet.columns
    if kind == ".tmx":
        memory = TmxPairs(source, languages)
        return memory, memory.languages
    raise PairError(
        f"{path} alone cannot be read as pairs: its name does not end in one of {_SUFFIXES}; rename it, or pass a "
        "second file aligned with it line by line."
    )


def read_documents(path: str | PathLike[str] | Piped) -> list[str]:
    """Read the lines of one text file, with the checks of `read_pairs`.

    Parameters
    ----------
    path : path or Piped
        Plain or .gz; "-" is standard input.

    Returns
    -------
    list of str
    """
    return [document for block in stream_documents(readable(path)) for document in block]


def stream_documents(path: str | PathLike[str] | Piped, size: int = 4096, *, wait: bool = False) -> Iterator[list[str]]:
    """The documents of `read_documents` in blocks, read as they are needed.

    Parameters
    ----------
    path : path or Piped
        Plain or .gz; "-" is standard input.
    size : int, default=4096
        Documents in a block.
    wait : bool, default=False
        Read a pipe as its lines come, waiting for them; otherwise a pipe must be a `Piped`, which copies it first.

    Yields
    ------
    list of str
    """
    source = readable(path) if not wait or isinstance(path, Piped) else Path(path)
    name = "standard input" if str(path) == "-" else source
    n_read, blank = 0, BlankCount(lambda _, position: f"line {position + 1} of {name}", drop_empty=False)
    with closing(lines_once(source) if wait and isinstance(source, Path) else lines(source)) as documents:
        while block := list(islice(documents, size)):
            for position, document in enumerate(block, n_read):
                blank.is_blank((document,), position)
            n_read += len(block)
            yield block
    warn_of_blank(blank.n_documents, blank.first, "remove such lines if unintended")


def default_language(path: str | PathLike[str]) -> str | None:
    """The label suggested by a file's name: its last suffix other than .gz and .txt, if any.

    Examples
    --------
    >>> default_language("train.en.txt.gz")
    'en'
    """
    suffixes = [suffix[1:] for suffix in Path(path).suffixes if suffix.lower() not in (".gz", ".txt", ".")]
    return suffixes[-1] if suffixes else None


def _kind_of_pipe(source: Piped) -> str:
    with closing(lines(source)) as first:
        if "\t" in next(first):
            return ".tsv"
    raise PairError(
        f"{source} alone must be a tab-separated table, but its first line has no tab; write it to a file whose name "
        f"ends in one of {_SUFFIXES}, or pass a second file aligned with it line by line."
    )


def _default_languages(first: Path | Piped, second: Path | Piped) -> tuple[str, str]:
    one, other = default_language(str(first)), default_language(str(second))
    return (one, other) if one and other and one != other else ("first", "second")
