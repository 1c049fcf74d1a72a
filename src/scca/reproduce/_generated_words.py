"""Figure 1 and Table 1: the number of words generated for a query, compared with those of its mate."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..anchored import Generated, Generator
from ..views import Scale
from ._corpus import Corpus
from ._run_settings import Settings

__all__ = ["VARIATIONS", "Variation", "generate_path", "generate_varied", "generate_words", "left_out"]

_NEGLIGIBLE = 1e-9  # a least-squares weight below this share of the largest is rounding error


@dataclass(frozen=True)
class Variation:
    """Table 1 with one thing changed."""

    name: str
    description: str
    joined: int = 1
    thinned: float = 1.0
    training: float = 1.0
    frequencies: str | None = None
    min_df: int = 1
    center: bool = True
    scale: Scale = "rows"
    mu: str = "auto"


_AS_IS = Variation("as-is", "as in Table 1")
VARIATIONS = (
    _AS_IS,
    Variation("training-half", "half of the training documents", training=0.5),
    Variation("training-quarter", "a quarter of the training documents", training=0.25),
    Variation("length-half", "documents thinned to half their length", thinned=0.5),
    Variation("length-quarter", "documents thinned to a quarter of their length", thinned=0.25),
    Variation("joined-2", "two documents joined into one, so half as many", joined=2),
    Variation("joined-4", "four documents joined into one, so a quarter as many", joined=4),
    Variation("words-2", "only words of at least 2 training documents", min_df=2),
    Variation("words-3", "only words of at least 3 training documents", min_df=3),
    Variation("frequencies", "words and frequencies of the whole corpus, left-out pair included", frequencies="corpus"),
    Variation("not-normalised", "documents not scaled to unit norm", scale=None),
    Variation("not-centred", "documents not centred", center=False),
    Variation("mu-2", "twice the automatic mu", mu="auto*2"),
    Variation("mu-3", "three times the automatic mu", mu="auto*3"),
)


def generate_path(corpus: Corpus, settings: Settings, side: int) -> dict[str, Any]:
    """Figure 1: the words generated in language `side` for one query of the other, over mu up to 1."""
    pair = _LeftOut(corpus, settings, side, settings.query)
    mus = [(i + 1) / settings.n_penalties for i in range(settings.n_penalties)]
    *path, automatic = pair.generator().path(pair.query, [*mus, "auto"])
    return {
        "mate_words": pair.mate_words,
        "mu": mus,
        "selected": [made.n_selected for made in path],
        "automatic_mu": automatic.mu,
        "automatic_selected": automatic.n_selected,
    }


def generate_words(corpus: Corpus, settings: Settings, side: int, documents: list[int]) -> dict[str, Any]:
    """Table 1, for some documents: words selected in language `side` with the automatic mu, and without sparsity.

    The non-sparse method is least squares.
    """
    rows = []
    for document in documents:
        pair = _LeftOut(corpus, settings, side, document)
        if pair.has_words:
            generator = pair.generator()
            made, dense = generator.generate(pair.query)[0], np.abs(generator.least_squares(pair.query))
            n_dense = int(np.count_nonzero(dense > _NEGLIGIBLE * dense.max()))
            rows.append({"document": document} | pair.count(made) | {"least_squares": n_dense, "mu": made.mu})
    return {"rows": rows}


def generate_varied(corpus: Corpus, settings: Settings, side: int, variation: Variation) -> dict[str, Any]:
    """Table 1 with one thing changed, over `settings.varied` documents."""
    if variation.joined > 1:
        corpus = corpus.joined(variation.joined)
    if variation.thinned < 1:
        corpus = corpus.thinned(variation.thinned, settings.seed)
    rows = []
    for document in left_out(corpus, settings.varied):
        pair = _LeftOut(corpus, settings, side, document, variation)
        if pair.has_words:
            rows.append(pair.count(pair.generator().generate(pair.query, variation.mu)[0]))
    return {"n_training": pair.n_training, "n_words": pair.n_words, "rows": rows}


def left_out(corpus: Corpus, at_most: int | None) -> list[int]:
    """The documents left out in turn: all, or `at_most` evenly spaced ones."""
    n = len(corpus)
    if at_most is None or at_most >= n:
        return list(range(n))
    return np.unique(np.linspace(0, n - 1, at_most).round().astype(int)).tolist()


class _LeftOut:
    """All pairs but one as training data: `query` is the left-out document, its mate is in language `side`.

    The words of the mate are its distinct words before weighting and centring, whether the training documents have them
    or not. `has_words` is False for an empty query, and for a mate without words to compare with.
    """

    def __init__(self, corpus: Corpus, settings: Settings, side: int, document: int, variation: Variation = _AS_IS):
        train = np.delete(np.arange(len(corpus)), document)
        if variation.training < 1:
            order = np.random.default_rng([settings.seed, document]).permutation(len(train))
            train = train[np.sort(order[: round(variation.training * len(train))])]
        options = variation.frequencies or settings.frequencies, variation.min_df
        self._target, _ = corpus.vectors(side, train, [document], *options)
        self._source, self.query = corpus.vectors(1 - side, train, [document], *options)
        self._variation = variation
        self.n_training, self.n_words = self._target.shape
        self.mate_words = int(corpus.distinct_words(side)[document])
        self.has_words = bool(self.mate_words and self.query.nnz)

    def generator(self) -> Generator:
        center, scale = self._variation.center, self._variation.scale
        return Generator(self._target, self._source, center=center, scale=scale)

    def count(self, made: Generated) -> dict[str, int]:
        """How many words the mate has, how many were selected, and how many of these have a positive weight."""
        positive = int(np.count_nonzero(made.weights > 0))
        return {"mate_words": self.mate_words, "selected": made.n_selected, "positive": positive}
