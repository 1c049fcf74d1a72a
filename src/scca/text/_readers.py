"""Reading paired text: two line-aligned files, a table, a Parquet file or a translation memory."""

import sys
from os import PathLike
from pathlib import Path

from .._validation import DataWarning
from ..engine import warn
from ._files import PairError
from ._lines import LinePairs, lines, lines_of
from ._paired import PairedText, two_names
from ._parquet import ParquetPairs
from ._tables import TablePairs
from ._tmx import TmxPairs

__all__ = ["PairError", "PairedText", "default_language", "read_documents", "read_pairs"]

_SUFFIXES = ".tsv, .csv, .tmx (each also with .gz) and .parquet"


def read_pairs(
    first: str | PathLike[str],
    second: str | PathLike[str] | None = None,
    *,
    languages: tuple[str, str] | None = None,
    columns: tuple[str, str] | None = None,
    drop_empty: bool = False,
) -> PairedText:
    """Read pairs of documents from one file or from two.

    Everything is read once, to check it; the result then streams the documents from the files and holds none of them.
    All text is UTF-8 and left as it is.

    Parameters
    ----------
    first : path
        With `second`, a text file with one document a line. Otherwise a table with a header row (.tsv without quoting,
        or .csv), a .parquet file, or a .tmx translation memory. Each but .parquet may be compressed (.gz).
    second : path, optional
        The text file whose line i is the mate of line i of `first`.
    languages : tuple of two str, optional
        Labels of the sides. Of a translation memory they select the languages ("en" is also "en-US"), and are needed
        if there are more than two. By default the files' suffixes, the columns' names or the only two languages.
    columns : tuple of two str, optional
        Columns of a table; by default those named like `languages`, or the only two there are.
    drop_empty : bool, default=False
        Leave out pairs of which either side is blank or missing. Otherwise a blank one is warned of (`DataWarning`)
        and a missing one (a null, or a segment that is not there) is an error.

    Returns
    -------
    PairedText

    Raises
    ------
    PairError
        If a file cannot be read as pairs.
    """
    languages = None if languages is None else two_names(languages, "languages")
    columns = None if columns is None else two_names(columns, "columns")
    path = Path(first)
    kind = "" if second is not None else Path(path.stem if path.suffix.lower() == ".gz" else path.name).suffix.lower()
    if columns and kind not in (".tsv", ".csv", ".parquet"):
        raise PairError(
            f"columns= {columns!r} is for tables (.tsv, .csv, .parquet), which {path} is not; leave it out."
        )
    if second is not None:
        other = Path(second)
        return PairedText(LinePairs(path, other), languages or _default_languages(path, other), drop_empty)
    if kind in (".tsv", ".csv"):
        table = TablePairs(path, columns or languages, tabs=kind == ".tsv")
        return PairedText(table, languages or table.columns, drop_empty)
    if kind == ".parquet" and path.suffix.lower() != ".gz":
        parquet = ParquetPairs(path, columns or languages)
        return PairedText(parquet, languages or parquet.columns, drop_empty)
    if kind == ".tmx":
        memory = TmxPairs(path, languages)
        return PairedText(memory, memory.languages, drop_empty)
    raise PairError(
        f"{path} alone cannot be read as pairs, for its name does not end in one of {_SUFFIXES}; rename it, or pass a "
        "second file aligned with it line by line."
    )


def read_documents(path: str | PathLike[str]) -> list[str]:
    """Read the lines of one text file, with the checks of `read_pairs`.

    Parameters
    ----------
    path : path
        Plain or .gz; "-" is standard input.

    Returns
    -------
    list of str
    """
    name = "standard input" if str(path) == "-" else str(path)
    documents = list(lines_of(sys.stdin.buffer, name) if str(path) == "-" else lines(Path(path)))
    blank = [not document or document.isspace() for document in documents]
    n_blank = sum(blank)
    if n_blank:
        count = "1 document is" if n_blank == 1 else f"{n_blank} documents are"
        warn(
            f"{count} empty (first: line {blank.index(True) + 1} of {name}); remove such lines if that is not meant.",
            DataWarning,
        )
    return documents


def default_language(path: str | PathLike[str]) -> str | None:
    """The label that a file's name suggests: its last suffix other than .gz and .txt, if any.

    Examples
    --------
    >>> default_language("train.en.txt.gz")
    'en'
    """
    suffixes = [suffix[1:] for suffix in Path(path).suffixes if suffix.lower() not in (".gz", ".txt", ".")]
    return suffixes[-1] if suffixes else None


def _default_languages(first: Path, second: Path) -> tuple[str, str]:
    one, other = default_language(first), default_language(second)
    return (one, other) if one and other and one != other else ("first", "second")
