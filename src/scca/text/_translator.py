"""The problem anchored at a word: few words of the other language that translate it."""

from dataclasses import dataclass

import numpy as np

from .._checks import Penalty
from .._types import PenaltyLike
from ..anchored import SignedView
from ..solver import DEFAULT_MAX_ITER, ComponentResult, solve_views
from ..views import FeatureView

__all__ = ["Translated", "Translator"]


@dataclass(frozen=True)
class Translated:
    """The solution of the problem anchored at a word.

    Attributes
    ----------
    weights : ndarray of shape (n_target_words,)
        Weights on the words of the other language, mostly zeros; negative for a word that occurs less with the anchor.
    joined_by : ndarray of shape (n_source_words,)
        Weights on the words of the anchor's own language, at most 1; 1 for the anchor itself.
    mu, gamma, dual_gap : float
        The penalties, and the largest possible (absolute) distance of the objective from its optimum.
    """

    weights: np.ndarray
    joined_by: np.ndarray
    mu: float
    gamma: float
    dual_gap: float


class Translator:
    """Translates words of the view `source` into words of the view `target`, from paired training documents.

    For the word k of Y it solves the paper's problem with features in place of samples,

        min over w, v of  ||X w - Y v||^2 + mu ||w||_1 + gamma sum_{i != k} v_i,    0 <= v <= 1,  v_k = 1,

    where X and Y are the prepared target and source, with the sign of every word of Y chosen so that it correlates
    positively with word k.

    Parameters
    ----------
    target, source : FeatureView
        Documents prepared as the model prepares them.
    tol : float, default=1e-6
        Duality gap to reach, relative to the squared norm of the anchored word's column.
    """

    def __init__(self, target: FeatureView, source: FeatureView, *, tol: float = 1e-6):
        self._target = target
        self._source = source
        self._tol = tol

    def translate(self, k: int, mu: PenaltyLike = "auto", gamma: PenaltyLike = "auto") -> Translated:
        """The solution for word `k`; penalties as for `SparseCCA`."""
        y = self._source.columns(np.array([k]))[:, 0]
        signs = np.where(self._source.rmatvec(y) < 0, -1.0, 1.0)
        found: ComponentResult = solve_views(
            *(self._target, SignedView(self._source, signs), k, y),
            mu=Penalty.parse(mu, "mu", zero_allowed=False),
            gamma=Penalty.parse(gamma, "gamma", zero_allowed=True),
            tol=self._tol,
            max_iter=DEFAULT_MAX_ITER,
            algorithm="working-set",
        )
        joined_by = signs * np.asarray(found.e)
        return Translated(found.w, joined_by, found.mu, found.gamma, found.dual_gap)
