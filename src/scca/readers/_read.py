"""Reading texts in two or more languages: line-aligned files, a table, a Parquet file or a translation memory."""

from collections.abc import Iterator, Sequence
from contextlib import closing
from itertools import islice
from os import PathLike
from pathlib import Path
from typing import cast

from .._wording import ordinal, setting, spelled
from ._files import PairError, Piped, readable
from ._lines import LineFiles, lines, lines_once
from ._parquet import ParquetColumns
from ._tables import TableColumns
from ._texts import BlankCount, PairedText, Source, TextViews, checked_names, text_views, warn_of_blank
from ._tmx import TmxUnits

__all__ = ["default_language", "read_documents", "read_pairs", "read_texts", "source_of", "stream_documents"]

_SUFFIXES = ".tsv, .csv, .tmx (each also with .gz) and .parquet"
_TABLES = (".tsv", ".csv", ".parquet")

File = str | PathLike[str] | Piped


def read_texts(
    *files: File,
    languages: Sequence[str] | None = None,
    columns: Sequence[str] | None = None,
    drop_empty: bool = False,
) -> TextViews:
    """Read documents in two or more languages, from one file for each language or from one file with all.

    Everything is read once, to check it; the result then streams the documents from the files. Text must be UTF-8 and
    is left unchanged.

    Parameters
    ----------
    *files : path or Piped
        Two or more text files with one document per line: lines i of all files belong together. Or one file: a table
        with a header row (.tsv without quoting, or .csv), a .parquet file, or a .tmx translation memory. All but
        .parquet may be compressed (.gz). "-" is standard input; alone it is a tab-separated table.
    languages : sequence of str, optional
        Labels of the views. In a translation memory they select the languages ("en" also matches "en-US"), and are
        required if there are more than two. By default the files' suffixes, the column names or the only two languages.
    columns : sequence of str, optional
        Columns of a table; by default those named like `languages`, or the only two there are.
    drop_empty : bool, default=False
        Leave out samples with a blank or missing document in any view. Otherwise a blank document gives a
        `DataWarning`, and a missing one (a null, or an absent segment) is an error.

    Returns
    -------
    TextViews
        A `PairedText` if there are two views.

    Raises
    ------
    PairError
        If the files cannot be read.
    """
    return text_views(*source_of(files, languages, columns), drop_empty)


def read_pairs(
    first: File,
    second: File | None = None,
    *,
    languages: tuple[str, str] | None = None,
    columns: tuple[str, str] | None = None,
    drop_empty: bool = False,
) -> PairedText:
    """Read pairs of documents: `read_texts` for two views.

    Parameters
    ----------
    first : path or Piped
        With `second`, a text file with one document per line; otherwise a file with both views.
    second : path or Piped, optional
        The text file whose line i is the mate of line i of `first`.
    languages, columns : tuple of two str, optional
        As for `read_texts`.
    drop_empty : bool, default=False
        Leave out pairs with a blank or missing document.

    Returns
    -------
    PairedText

    Raises
    ------
    PairError
        If a file cannot be read as pairs.
    """
    for what, names in (("languages", languages), ("columns", columns)):
        if names is not None:
            checked_names(names, what, 2)
    files = (first,) if second is None else (first, second)
    return cast(PairedText, read_texts(*files, languages=languages, columns=columns, drop_empty=drop_empty))


def source_of(
    files: Sequence[File], languages: Sequence[str] | None = None, columns: Sequence[str] | None = None
) -> tuple[Source, tuple[str, ...]]:
    """The source of the documents of `read_texts`, and the labels of its views."""
    if not files:
        raise PairError("at least one file is needed; got none: name two aligned files, or a table.")
    several = len(files) > 1
    languages = None if languages is None else checked_names(languages, "languages", len(files) if several else None)
    columns = None if columns is None else checked_names(columns, "columns")
    if languages and columns and len(languages) != len(columns):
        raise PairError(
            f"{setting('languages')} must have a label for each of the {spelled(len(columns))} columns; got "
            f"{languages!r}."
        )
    if several and [str(file) for file in files].count("-") > 1:
        others = "other" if len(files) == 2 else "others"
        raise PairError(f"standard input (-) can be only one of the {spelled(len(files))} files; name the {others}.")
    sources = [readable(files[0])]
    kind = "" if several else _kind_of(sources[0])
    if columns and kind not in _TABLES:
        raise PairError(
            f"{setting('columns', columns)} is for tables ({', '.join(_TABLES)}), which {sources[0]} is not; leave it "
            "out."
        )
    if several:
        sources += map(readable, files[1:])
        return LineFiles(sources), languages or _default_languages(sources)
    return _source_of_one(sources[0], kind, languages, columns)


def _source_of_one(
    source: Path | Piped, kind: str, languages: tuple[str, ...] | None, columns: tuple[str, ...] | None
) -> tuple[Source, tuple[str, ...]]:
    """The source of documents that are all in one file, and the labels of its views."""
    if kind in (".tsv", ".csv"):
        table = TableColumns(source, columns or languages, tabs=kind == ".tsv")
        return table, languages or table.columns
    path = source.path if isinstance(source, Piped) else source
    if kind == ".parquet" and path.suffix.lower() != ".gz":  # refuses pipes: Parquet is read from its end
        parquet = ParquetColumns(path, columns or languages)
        return parquet, languages or parquet.columns
    if kind == ".tmx":
        memory = TmxUnits(source, languages)
        return memory, memory.languages
    raise PairError(
        f"{path} alone cannot be read as pairs: its name does not end in one of {_SUFFIXES}; rename it, or pass a "
        "second file aligned with it line by line."
    )


def _kind_of(source: Path | Piped) -> str:
    """The suffix that says how a file is read, without .gz; that of a pipe without a suffix is .tsv."""
    path = source.path if isinstance(source, Piped) else source
    kind = Path(path.stem if path.suffix.lower() == ".gz" else path.name).suffix.lower()
    if isinstance(source, Piped) and kind not in (*_TABLES, ".tmx"):
        return _kind_of_pipe(source)
    return kind


def read_documents(path: File) -> list[str]:
    """Read the lines of one text file, with the checks of `read_texts`.

    Parameters
    ----------
    path : path or Piped
        Plain or .gz; "-" is standard input.

    Returns
    -------
    list of str
    """
    return [document for block in stream_documents(readable(path)) for document in block]


def stream_documents(path: File, size: int = 4096, *, wait: bool = False) -> Iterator[list[str]]:
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
    warn_of_blank(blank.n_documents, blank.first, remedy="remove such lines if unintended")


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


def _default_languages(files: Sequence[Path | Piped]) -> tuple[str, ...]:
    """The suffixes of the files if they are all different, or "first", "second" and so on."""
    suffixes = [default_language(str(file)) or "" for file in files]
    if all(suffixes) and len(set(suffixes)) == len(suffixes):
        return tuple(suffixes)
    return tuple(ordinal(number) for number in range(1, len(files) + 1))
