"""Figure 1 and Table 1: the number of words generated for a query, compared with those of its mate."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..anchored import Generator
from ..views import Scale
from ._corpus import Corpus
from ._settings import Settings

__all__ = ["VARIATIONS", "Variation", "generate_path", "generate_words", "generate_varied", "left_out", "varied_corpus"]

_NEGLIGIBLE = 1e-9  # a least-squares weight below this share of the largest is rounding error


def generate_path(corpus: Corpus, settings: Settings, side: int) -> dict[str, Any]:
    """Figure 1: the words generated in language `side` for one query of the other, over mu up to 1."""
    view = _LeftOut(corpus, settings.query, side, settings.frequencies)
    mus = [(i + 1) / settings.n_penalties for i in range(settings.n_penalties)]
    *path, automatic = view.generator().path(view.query, [*mus, "auto"])
    return {
        "mate_words": view.mate_words,
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
        view = _LeftOut(corpus, document, side, settings.frequencies)
        if not view.mate_words or not view.query.nnz:
            continue  # no mate words to compare with, or an empty query
        generator = view.generator()
        made, dense = generator.generate(view.query)[0], generator.least_squares(view.query)
        rows.append(
            {
                "document": document,
                "mate_words": view.mate_words,
                "selected": made.n_selected,
                "positive": int(np.count_nonzero(made.weights > 0)),
                "least_squares": int(np.count_nonzero(np.abs(dense) > _NEGLIGIBLE * np.abs(dense).max())),
                "mu": made.mu,
            }
        )
    return {"rows": rows}


def left_out(corpus: Corpus, at_most: int | None) -> list[int]:
    """The documents left out in turn: all, or `at_most` evenly spaced ones."""
    n = len(corpus)
    if at_most is None or at_most >= n:
        return list(range(n))
    return np.unique(np.linspace(0, n - 1, at_most).round().astype(int)).tolist()


# --- what Table 1's number depends on ------------------------------------------------------------------------------


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


VARIATIONS = (
    Variation("as-is", "as in Table 1"),
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


def varied_corpus(corpus: Corpus, variation: Variation, seed: int) -> Corpus:
    """The corpus with its documents joined or thinned."""
    if variation.joined > 1:
        corpus = corpus.joined(variation.joined)
    return corpus.thinned(variation.thinned, seed) if variation.thinned < 1 else corpus


def generate_varied(corpus: Corpus, settings: Settings, side: int, variation: Variation) -> dict[str, Any]:
    """Table 1 with one thing changed, over `settings.varied` documents."""
    corpus = varied_corpus(corpus, variation, settings.seed)
    rows = []
    for document in left_out(corpus, settings.varied):
        view = _LeftOut(
            corpus,
            document,
            side,
            variation.frequencies or settings.frequencies,
            min_df=variation.min_df,
            training=variation.training,
            seed=settings.seed,
        )
        if view.mate_words and view.query.nnz:
            made = view.generator(variation.center, variation.scale).generate(view.query, variation.mu)[0]
            positive = int(np.count_nonzero(made.weights > 0))
            rows.append({"mate_words": view.mate_words, "selected": made.n_selected, "positive": positive})
    return {"n_training": view.target.shape[0], "n_words": view.target.shape[1], "rows": rows}


# --- one pair left out ---------------------------------------------------------------------------------------------


class _LeftOut:
    """All pairs but one as training data: `query` is the left-out document, its mate is in language `side`.

    The words of the mate are its distinct words before weighting and centring, whether the training documents have them
    or not.
    """

    def __init__(
        self,
        corpus: Corpus,
        document: int,
        side: int,
        frequencies: str,
        *,
        min_df: Any = 1,
        training: float = 1.0,
        seed: int = 0,
    ):
        train = np.delete(np.arange(len(corpus)), document)
        if training < 1:
            kept = np.random.default_rng([seed, document]).permutation(len(train))[: round(training * len(train))]
            train = train[np.sort(kept)]
        self.target, _ = corpus.vectors(side, train, [document], frequencies, min_df)
        self._source, self.query = corpus.vectors(1 - side, train, [document], frequencies, min_df)
        self.mate_words = int(corpus.distinct_words(side)[document])

    def generator(self, center: bool = True, scale: Scale = "rows") -> Generator:
        return Generator(self.target, self._source, center=center, scale=scale)
