"""Where the samples of a model's views come from: values in memory, text files, or the workers of a cluster."""

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import joblib
import numpy as np
import scipy.sparse as sp

from .._checks import DataWarning, shown, warn
from .._wording import counted, setting
from ..kinds import Kind, TextVectorizer, kind_named, kind_of
from ..progress import from_checkpoint, report, text_array, texts_of
from ..readers import RemoteTexts, TextViews
from ..samples import summed

__all__ = ["Source", "Stored", "source_of"]

_DOCUMENTS_PER_REPORT = 1000
_MOST_STORED = 100_000  # maximum number of samples of a cluster that a model stores

# matrices, labels of the samples (None for views without), and the numbers of the samples (None for all)
Stored = tuple[tuple[Any, ...], tuple[list[str] | None, ...], np.ndarray | None]


class Source(ABC):
    """The samples of all views of a model.

    Attributes
    ----------
    names : tuple of str
    digests : list of str or None
        A hash of each view's samples, once they are learnt; None where only their matrix has one.
    """

    names: tuple[str, ...]
    digests: list[str | None]

    @abstractmethod
    def __len__(self) -> int:
        """The number of samples."""

    @abstractmethod
    def kinds(self, asked: Any) -> list[Kind]:
        """An unfitted kind for each view, as asked for or as the samples suggest."""

    @abstractmethod
    def learn(self, kinds: Sequence[Kind]) -> list[Any]:
        """Fit the kinds; the matrices of all views, in memory or in blocks."""

    @abstractmethod
    def stored(self, kinds: Sequence[Kind], matrices: Sequence[Any], labels: bool) -> Stored:
        """What a model stores of its training samples, with or without labels."""

    @property
    @abstractmethod
    def digest(self) -> str:
        """A hash of all samples, by which a checkpoint recognises them."""

    @property
    def dropped(self) -> Sequence[int]:
        """The positions of samples that were left out."""
        return ()


def source_of(views: Any) -> Source:
    """The source of what `fit` is given: a mapping from name to samples, `TextViews`, or texts on a cluster."""
    if isinstance(views, RemoteTexts):
        return _Remote(views)
    if isinstance(views, TextViews):
        return _Texts(views)
    if isinstance(views, Mapping):
        return _Given(views)
    raise ValueError(
        f"fit takes a mapping from the name of each view to its samples, or the texts of read_texts; got a "
        f"{type(views).__name__}: pass {{'first': ..., 'second': ...}}."
    )


class _Given(Source):
    """Samples in memory, by the name of the view."""

    def __init__(self, views: Mapping[str, Any]):
        self._views = dict(views)
        self.names = tuple(self._views)
        if len(self.names) < 2 or not all(isinstance(name, str) and name for name in self.names):
            raise ValueError(f"at least 2 views with names are needed; got {shown(list(self.names))}: name them.")
        counts = [_count(samples) for samples in self._views.values()]
        if len(set(counts)) > 1:
            raise ValueError(
                f"all views must have the same samples; {', '.join(self.names)} have {', '.join(map(str, counts))}: "
                "sample i of each must be the same thing."
            )
        self._n = counts[0]
        self.digests = [
            _digest_of(samples) if isinstance(samples, list | tuple) else None for samples in self._views.values()
        ]

    def __len__(self) -> int:
        return self._n

    @property
    def digest(self) -> str:
        return " ".join(
            joblib.hash(samples) if own is None else own
            for own, samples in zip(self.digests, self._views.values(), strict=True)
        )

    def kinds(self, asked: Any) -> list[Kind]:
        _check_asked(asked, self.names)
        return [
            kind_of(samples, name) if _is_auto(given := _asked(asked, name)) else kind_named(given)
            for name, samples in self._views.items()
        ]

    def learn(self, kinds: Sequence[Kind]) -> list[Any]:
        matrices = []
        for kind, (name, samples) in zip(kinds, self._views.items(), strict=True):
            report(f"reading {name}", 0, 1)
            try:
                matrices.append(kind.fit_transform(samples))
            except ValueError as error:
                raise ValueError(f"{name}: {error}") from error
        for kind, name, matrix in zip(kinds, self.names, matrices, strict=True):
            if kind.zeros_say_nothing and sp.issparse(matrix):
                _warn_of_empty(name, kind, matrix)
        return matrices

    def stored(self, kinds: Sequence[Kind], matrices: Sequence[Any], labels: bool) -> Stored:
        shown_as = [
            kind.labels(samples) if labels else None for kind, samples in zip(kinds, self._views.values(), strict=True)
        ]
        return tuple(matrices), tuple(shown_as), None


class _Texts(Source):
    """Documents that are streamed from files, or in memory."""

    def __init__(self, texts: Any):  # TextViews, or RemoteTexts
        self._texts = texts
        self.names = tuple(texts.languages)
        self.digests = [None] * len(self.names)

    def __len__(self) -> int:
        return len(self._texts)

    @property
    def digest(self) -> str:
        return str(self._texts.digest)

    @property
    def dropped(self) -> Sequence[int]:
        return getattr(self._texts, "dropped", ())  # a cluster numbers only what it has not dropped

    def kinds(self, asked: Any) -> list[Kind]:
        return _text_kinds(asked, self.names)

    def learn(self, kinds: Sequence[Kind]) -> list[Any]:
        found = [self._learn(v, kind) for v, kind in enumerate(kinds)]
        _warn_of_absent([absent for _, absent in found])
        for (vectors, _), name, kind in zip(found, self.names, kinds, strict=True):
            _warn_of_empty(name, kind, vectors)
        return [vectors for vectors, _ in found]

    def stored(self, kinds: Sequence[Kind], matrices: Sequence[Any], labels: bool) -> Stored:
        documents = (list(self._texts.documents(v)) if labels else None for v in range(len(self.names)))
        return tuple(matrices), tuple(documents), None

    def _learn(self, v: int, vectorizer: Any) -> tuple[sp.csr_array, list[str]]:
        """The vectors of one view's documents, and the stop words that no document has."""
        texts, language = self._texts, self.names[v]

        def learn() -> tuple[sp.csr_array, list[str]]:
            try:
                digest = hashlib.sha256()
                documents = _hashed(_reported(texts.documents(v), f"reading {language}", len(texts)), digest)
                learnt = vectorizer.learn(documents)
            except ValueError as error:
                raise ValueError(f"{language}: {error}") from error
            self.digests[v] = f"sha256:{digest.hexdigest()}"
            return learnt

        def pack(learnt: tuple[sp.csr_array, list[str]]) -> dict[str, np.ndarray]:
            vectors, absent = learnt
            return {
                **{"data": vectors.data, "indices": vectors.indices, "indptr": vectors.indptr},
                **{"words": text_array(vectorizer.words_), "idf": vectorizer.idf_, "absent": text_array(absent)},
                "digest": text_array([str(self.digests[v])]),
            }

        def unpack(stored: Mapping[str, np.ndarray]) -> tuple[sp.csr_array, list[str]]:
            vectorizer.words_ = np.array(texts_of(stored["words"]), dtype=object)
            vectorizer.idf_ = stored["idf"]
            (self.digests[v],) = texts_of(stored["digest"])
            parts = stored["data"], stored["indices"], stored["indptr"]
            return sp.csr_array(parts, shape=(len(texts), len(vectorizer.words_))), texts_of(stored["absent"])

        return from_checkpoint(f"reading {v}", learn, pack, unpack)


class _Remote(_Texts):
    """Documents on the workers of a cluster."""

    def learn(self, kinds: Sequence[Kind]) -> list[Any]:
        matrices, absent = self._texts.learn(kinds)
        _warn_of_absent(absent)
        for vectors, name, kind in zip(matrices, self.names, kinds, strict=True):
            _warn_of_empty(name, kind, vectors)
        return matrices

    def stored(self, kinds: Sequence[Kind], matrices: Sequence[Any], labels: bool) -> Stored:
        n = len(self)
        rows = np.unique(np.linspace(0, n - 1, min(n, _MOST_STORED)).astype(int))
        documents = tuple(self._texts.documents(v, rows) if labels else None for v in range(len(self.names)))
        return tuple(each.chosen(rows) for each in matrices), documents, None if len(rows) == n else rows


def _asked(asked: Any, name: str) -> Any:
    """The kind that is asked for the view of this name."""
    return asked.get(name, "auto") if isinstance(asked, Mapping) else asked


def _check_asked(asked: Any, names: Sequence[str]) -> None:
    """Refuse kinds of views that are not there."""
    unknown = [name for name in asked if name not in names] if isinstance(asked, Mapping) else []
    if unknown:
        raise ValueError(
            f"kinds names the view {shown(unknown[0])}; the views are {', '.join(names)}: name one of them."
        )


def _is_auto(given: Any) -> bool:
    return isinstance(given, str) and given == "auto"


def _text_kinds(asked: Any, names: Sequence[str]) -> list[Kind]:
    _check_asked(asked, names)
    kinds = [kind_named("text" if _is_auto(given := _asked(asked, name)) else given) for name in names]
    for name, kind in zip(names, kinds, strict=True):
        if not isinstance(kind, TextVectorizer):
            raise ValueError(f"{name} has documents, whose kind is text; got {kind.kind!r}: pass lists of samples.")
    return kinds


def _count(samples: Any) -> int:
    shape = getattr(samples, "shape", None)
    return int(shape[0]) if shape is not None else len(samples)


def _digest_of(samples: Iterable[Any]) -> str:
    """SHA-256 of texts (of other things, as they are printed), each followed by a line end: that of their file."""
    digest = hashlib.sha256()
    for each in samples:
        digest.update(f"{each}\n".encode(errors="surrogatepass"))
    return f"sha256:{digest.hexdigest()}"


def _hashed(documents: Iterable[str], digest: Any) -> Iterator[str]:
    """The documents; `digest` takes each, followed by a line end."""
    for document in documents:
        digest.update(f"{document}\n".encode(errors="surrogatepass"))
        yield document


def _reported(documents: Iterable[str], what: str, total: int) -> Iterator[str]:
    """The documents; reports how many have been read."""
    for i, document in enumerate(documents):
        if i % _DOCUMENTS_PER_REPORT == 0:
            report(what, i, total)
        yield document
    report(what, total, total)


def _warn_of_absent(absent: Sequence[Sequence[str]]) -> None:
    """Warn of stop words that no document of any view has."""
    unmatched = [word for word in absent[0] if all(word in others for others in absent[1:])]
    if unmatched:
        count = "1 stop word occurs" if len(unmatched) == 1 else f"{len(unmatched)} stop words occur"
        warn(f"{count} in no document (first: {shown(unmatched[0])}); check the spelling.", DataWarning)


def _warn_of_empty(name: str, kind: Kind, vectors: Any) -> None:
    n_empty = summed(_count_empty, [vectors])
    if n_empty:
        place = np.argmin(np.diff(vectors.tocsr().indptr)) + 1 if sp.issparse(vectors) else None
        first = "" if place is None else f" (first: {kind.sample} {place})"
        said = counted(int(n_empty), kind.sample, kind.samples)
        warn(
            f"{name} has {said} without any {kind.unit} that is read{first}; such {kind.samples} carry no information: "
            f"lower {setting('min_df')}, or drop the pairs.",
            DataWarning,
        )


def _count_empty(items: Sequence[Any]) -> int:
    """The number of samples without a feature."""
    rows = getattr(items[0], "rows", items[0])  # a block is stored by rows and by columns
    return int(np.count_nonzero(np.diff(rows.tocsr().indptr) == 0))
