"""Generation by a model of text: the expected words of a document's mate."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from .._checks import check_count
from .._types import PenaltyLike
from .._wording import setting
from ..anchored import Generator
from ..estimators import AnchoredCCA
from ..model import Model
from ._expected_words import ExpectedWords
from ._results import GeneratedText, strongest
from ._text_views import text_target, text_view, usable_words

__all__ = ["generate", "generate_path"]

_DEFAULT_TOP = 12  # number of words generated per query
# the regressions of each fit, by the numbers of both views; not in files
_EXPECTED: WeakKeyDictionary[Any, dict[tuple[int, int], ExpectedWords]] = WeakKeyDictionary()


def generate(
    model: Model,
    queries: Sequence[str],
    *,
    source: str | None = None,
    target: str | None = None,
    mu: PenaltyLike = "auto",
    top: int | None = None,
) -> list[GeneratedText]:
    """For each query, the words that its mate in another language is expected to have, strongest first.

    By default these are the `top` words (12 unless given) with the largest weights by ridge regression on the words
    that the model reads (`ExpectedWords`). With `anchors`, they are selected by the lasso of Section 5.1 of the paper,
    whose penalty `mu` determines their number; only the `top` strongest are returned if `top` is given.

    Parameters
    ----------
    model : Model
        With at least two views of text.
    queries : sequence of str
    source, target : str, optional
        The languages of the queries and of the words; by default the language that the queries' words tell, and the
        only other one.
    mu : "auto", "auto*FACTOR" or float, default="auto"
        Models with anchors only.
    top : int, optional

    Returns
    -------
    list of GeneratedText
    """
    most = None if top is None else check_count(top, "top")
    if _is_anchored(model):
        found = _by_lasso(model, queries, source, target, [mu])
        return [replace(texts[0], words=texts[0].words[:most]) for texts in found]
    if not (isinstance(mu, str) and mu == "auto"):
        raise ValueError(
            f"{setting('mu')} is for models with {setting('anchors')}; got {setting('mu', mu)}: set "
            f"{setting('top')}, the number of words, instead."
        )
    return _by_regression(model, queries, source, target, most or _DEFAULT_TOP)


def generate_path(
    model: Model,
    query: str,
    mus: Sequence[PenaltyLike],
    *,
    source: str | None = None,
    target: str | None = None,
) -> list[GeneratedText]:
    """The results of `generate` for one query at every mu of `mus`; models with anchors only."""
    if not _is_anchored(model):
        raise ValueError("generate_path is for models with anchors; use generate with top instead.")
    return _by_lasso(model, [query], source, target, mus)[0]


def _is_anchored(model: Model) -> bool:
    check_is_fitted(model)
    return isinstance(model.estimator_, AnchoredCCA)


def _read_queries(
    model: Model, queries: Sequence[str], source: str | None, target: str | None
) -> tuple[int, int, sp.csr_array, list[bool]]:
    """The views of the queries and of the words, the queries' vectors, and which have a word that the model reads."""
    v = text_view(model, model.detect_view(queries) if source is None else source)
    u = text_target(model, v, target)
    vectors = model.vectorize(queries, model.view_names_[v])
    return v, u, vectors, model.preparation_of(v).reads(vectors).tolist()


def _by_regression(
    model: Model, queries: Sequence[str], source: str | None, target: str | None, top: int
) -> list[GeneratedText]:
    """The words that ridge regression expects."""
    v, u, vectors, known = _read_queries(model, queries, source, target)
    language, names = model.view_names_[u], model.kinds_[u].words_
    texts = []
    for weights, is_known in zip(_expected_words(model, v, u).weights(vectors), known, strict=True):
        words = strongest(np.maximum(weights, 0.0), names, most=top) if is_known else ()
        texts.append(GeneratedText(language, words, None, None, is_known))
    return texts


def _expected_words(model: Model, v: int, u: int) -> ExpectedWords:
    """The regression of the words of view u on those of view v; cached as long as the fitted model exists."""
    cached = _EXPECTED.setdefault(model.estimator_, {})
    if (v, u) not in cached:
        cached[v, u] = ExpectedWords(
            model.training_[v],
            model.training_[u],
            preparation=model.preparation_of(v),
            listed=usable_words(model, u),
        )
    return cached[v, u]


def _by_lasso(
    model: Model, queries: Sequence[str], source: str | None, target: str | None, mus: Sequence[PenaltyLike]
) -> list[list[GeneratedText]]:
    """The words that the lasso selects, for each query at every mu."""
    v, u, vectors, known = _read_queries(model, queries, source, target)
    language, names = model.view_names_[u], model.kinds_[u].words_
    generator = Generator(
        model.training_[u],
        model.training_[v],
        x_preparation=model.preparation_of(u),
        y_preparation=model.preparation_of(v),
        tol=model.tol,
    )
    texts = []
    for i, is_known in enumerate(known):
        if is_known:
            path = generator.path(vectors[[i]], mus)
            made = [GeneratedText(language, strongest(g.weights, names), g.mu, g.dual_gap, True) for g in path]
        else:
            made = [GeneratedText(language, (), np.nan, 0.0, False) for _ in mus]
        texts.append(made)
    return texts
