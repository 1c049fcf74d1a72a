"""The built-in corpus: short documents in English, French and Spanish."""

import csv
import gzip
import io
from dataclasses import dataclass
from importlib.resources import files

__all__ = ["TrilingualCorpus", "load_trilingual"]

LANGUAGES = ("en", "fr", "es")


@dataclass(frozen=True)
class TrilingualCorpus:
    """Documents in three languages: entries i of all lists are translations of each other.

    Attributes
    ----------
    ids, subjects : tuple of str
    en, fr, es : tuple of str
        The texts.
    """

    ids: tuple[str, ...]
    subjects: tuple[str, ...]
    en: tuple[str, ...]
    fr: tuple[str, ...]
    es: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.ids)

    def __repr__(self) -> str:
        return f"<TrilingualCorpus of {len(self)} documents in {', '.join(LANGUAGES)}>"

    def texts(self, language: str) -> tuple[str, ...]:
        """The texts of a language: "en", "fr" or "es"."""
        if language not in LANGUAGES:
            raise ValueError(f"language must be one of {', '.join(LANGUAGES)}; got {language!r}.")
        return getattr(self, language)


def load_trilingual() -> TrilingualCorpus:
    """The corpus that ships with the package: original prose, public domain (CC0).

    Examples
    --------
    >>> from scca.datasets import load_trilingual
    >>> corpus = load_trilingual()
    >>> len(corpus.en) == len(corpus.fr) == len(corpus.es) == len(corpus)
    True
    """
    packed = files(__package__).joinpath("trilingual.tsv.gz").read_bytes()
    table = io.StringIO(gzip.decompress(packed).decode("utf-8"), newline="")
    rows = list(csv.DictReader(table, delimiter="\t", quoting=csv.QUOTE_NONE))
    return TrilingualCorpus(
        *(tuple(row[name] for row in rows) for name in ("id", "subject", *LANGUAGES)),
    )
