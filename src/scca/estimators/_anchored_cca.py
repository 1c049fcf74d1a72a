"""Hardoon and Shawe-Taylor's sparse CCA as a scikit-learn estimator."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np

from .._checks import Penalty, check_choice, check_count, check_tolerance
from .._types import MatrixLike, PenaltyLike
from ..anchored import AnchoredSettings, anchor_strategy, extract_components
from ..factors import Prepared
from ..parallel import blas_threads_for
from ..samples import Views
from ..solver import ALGORITHMS, DEFAULT_MAX_ITER
from ..views import FeatureView, Kernel, PreparedView, linear_kernel_view
from ._low_rank_kernel import LowRankKernel
from ._paired import PairedTransformer

__all__ = ["AnchoredCCA"]

# which views have weights on their samples; the anchored view is X only in "dual-primal"
_DUAL_VIEWS: dict[str, tuple[str, ...]] = {
    "primal-dual": ("Y",),
    "dual-primal": ("X",),
    "primal-primal": (),
    "dual-dual": ("X", "Y"),
}


class AnchoredCCA(PairedTransformer):
    """Sparse CCA of Hardoon and Shawe-Taylor's paper: components anchored at a sample. The defaults are the paper's.

    For each component j, with an anchor sample k, it solves the convex problem

        min over w, e of  ||X_j w - K_j e||^2 + mu ||w||_1 + gamma sum_{i != k} e_i,    0 <= e <= 1,  e_k = 1

    to a certified duality gap (X_1 is the primal view and K_1 the kernel matrix of the dual view), then deflates: with
    u = X_j'X_j w and t = X_j u, X_{j+1} is X_j with t projected out of its columns, and K_{j+1} is K_j with
    tau = K_j K_j e projected out on both sides. New samples are projected on `x_rotations_`, which use all features.

    Parameters
    ----------
    n_components : int, default=2
        Number of components, at most n_samples - 1 (n_samples without centring) and at most the number of features of a
        primal view.
    anchors : {"sequential", "cross-energy", "best-objective"} or sequence of int, default="sequential"
        The anchor of each component, a sample of the dual view (with "primal-primal" a feature of Y; then read
        "feature" for "sample" below):

        - "sequential": the samples in order (the paper's choice);
        - "cross-energy": the sample with the largest ||X_j'K_j e_k||^2, how much of it the other view explains: exact
          up to 256 samples, otherwise estimated from 16 products with random vectors;
        - "best-objective": the sample whose component has the smallest objective, among all samples or
          `n_candidates` (the paper calls this the optimum, and finds it too slow);
        - a sequence: the given indices, in that order.

        An anchor whose component is empty (w = 0) is skipped and tried again after all others.
    n_candidates : int, optional
        With "best-objective": the number of samples, those with the largest cross-energy, whose problems are solved for
        each component; by default all.
    representation : {"primal-dual", "dual-primal", "primal-primal", "dual-dual"}, default="primal-dual"
        Which view has weights on its features (primal) and which on its samples (dual); X first, then Y. An anchored
        primal view (Y in "primal-primal") has a feature as its anchor; the other features, with signs chosen to
        correlate positively with it, get weights between 0 and 1.
    mu, gamma : "auto", "auto*FACTOR" or float, default="auto"
        Penalties on w and e; the larger, the fewer weights. "auto" is the paper's rule, the mean over all features
        (samples) of |2 X_j'K_j e| (|2 K_j^2 e|) with e at the anchor alone, computed again for each component.
        "auto*0.5" is half the automatic value; a number is absolute.
    feature_weights : "shared" or None, default=None
        Multiply every feature by how well the other view predicts it; as for `SparseCCA`.
    n_features : int, float or None, default=None
        Number of features of each view to read, with "shared" feature weights; as for `SparseCCA`.
    kernel : "linear" or another kernel, default="linear"
        The kernel of the dual views: a name from `sklearn.metrics.pairwise.pairwise_kernels`, a `Kernel` with
        parameters, a function of two rows, "precomputed" if a dual view is the kernel matrix itself, or a
        `LowRankKernel`.
    center : bool, default=True
    scale : {"auto", "columns", "rows", "both"} or None, or a pair of them, default="rows"
        As for `SparseCCA`.
    algorithm : {"working-set", "greedy"}, default="working-set"
        The fast solver, or the paper's Algorithms 1 to 3. Both solve the same problem to the same certificate.
    tol : float, default=1e-6
        Duality gap to reach for each component, relative to ||K_j[:, k]||^2.
    max_iter : int, default=1000
        Maximum number of solver rounds per component.
    n_jobs : int, optional
        Number of threads that compute a kernel that is not linear. The results do not depend on it.

    Attributes
    ----------
    n_components_ : int
        Number of components found; fewer than requested if the views are exhausted.
    anchors_ : ndarray of int
    x_weights_, y_weights_ : ndarray of shape (coordinates, n_components_)
        w_j and e_j, mostly zeros, scaled so that the scores on the deflated training views have unit norm: weights on
        the features of a primal view, on the samples of a dual one.
    x_rotations_, y_rotations_ : ndarray of shape (coordinates, n_components_)
        The projection directions: the prepared training view times these gives orthonormal scores.
    correlations_ : ndarray of shape (n_components_,)
        Cosine of the two training scores, the paper's rho.
    mu_, gamma_, objective_, dual_gap_, n_passes_, n_iter_ : ndarray of shape (n_components_,)
        Penalties, objective, certified gap (absolute), passes over the data and solver rounds of each component.
    converged_ : ndarray of bool of shape (n_components_,)
    x_scale_, y_scale_, x_preparation_, y_preparation_, x_feature_weights_, y_feature_weights_ : as for `SparseCCA`
    x_kernel_error_, y_kernel_error_ : as for `SparseCCA`
    n_features_in_, n_features_y_, feature_names_in_, feature_names_y_ : as for `SparseCCA`

    Examples
    --------
    >>> import scca
    >>> X, Y = scca.datasets.make_planted(100, 40, 30, random_state=0).views
    >>> model = scca.AnchoredCCA(3).fit(X, Y)
    >>> model.anchors_.tolist()
    [0, 1, 2]
    """

    def __init__(
        self,
        n_components: int = 2,
        *,
        anchors: str | Sequence[int] = "sequential",
        n_candidates: int | None = None,
        representation: str = "primal-dual",
        mu: PenaltyLike = "auto",
        gamma: PenaltyLike = "auto",
        feature_weights: str | None = None,
        n_features: int | float | None = None,
        kernel: str | Callable[..., float] | Kernel | LowRankKernel = "linear",
        center: bool = True,
        scale: Any = "rows",
        algorithm: str = "working-set",
        tol: float = 1e-6,
        max_iter: int = DEFAULT_MAX_ITER,
        n_jobs: int | None = None,
    ):
        self.n_components = n_components
        self.anchors = anchors
        self.n_candidates = n_candidates
        self.representation = representation
        self.mu = mu
        self.gamma = gamma
        self.feature_weights = feature_weights
        self.n_features = n_features
        self.kernel = kernel
        self.center = center
        self.scale = scale
        self.algorithm = algorithm
        self.tol = tol
        self.max_iter = max_iter
        self.n_jobs = n_jobs

    def _are_dual(self, n_views: int) -> tuple[bool, ...]:
        # scikit-learn asks before `fit` has checked `representation`
        dual = _DUAL_VIEWS.get(self.representation, ()) if isinstance(self.representation, str) else ()
        return "X" in dual, "Y" in dual

    def _given_kernels(self, n_views: int) -> tuple[Any, ...]:
        return tuple(self.kernel if is_dual else "linear" for is_dual in self._are_dual(n_views))

    @property
    def anchors_are_samples(self) -> bool:
        """Whether anchors are samples, not features of Y."""
        return self.representation != "primal-primal"

    def fit(self, X: MatrixLike, Y: MatrixLike) -> Self:
        """Learn the components of paired samples.

        Parameters
        ----------
        X : {array, sparse matrix, data frame} of shape (n_samples, n_features)
        Y : {array, sparse matrix, data frame} of shape (n_samples, n_features_y)
            Row i of X and row i of Y are the same sample. With a precomputed kernel a dual view is the
            (n_samples, n_samples) kernel matrix itself.

        Returns
        -------
        self
        """
        return self._fit_pair(X, Y)

    def _prepare(self, views: Views, settings: AnchoredSettings, first: PreparedView | None = None) -> Prepared:
        return self._prepared_with_chosen(views, settings, first)

    def _learn(self, prepared: Prepared, settings: AnchoredSettings) -> Self:
        views = [
            linear_kernel_view(view, settings.n_components)
            if name in self._dual_views and isinstance(view, FeatureView)
            else view
            for name, view in zip(prepared.given.names, prepared.views, strict=True)
        ]
        w_view, e_view = self._swapped(*views)
        strategy = anchor_strategy(self.anchors, e_view.shape[1], settings.n_components, self.n_candidates)
        with blas_threads_for(w_view.n_stored, e_view.n_stored):
            found = extract_components(w_view, e_view, settings.n_components, strategy, settings)

        components, results = found.components, [component.result for component in found.components]
        w_weights = np.column_stack([component.w_weights for component in components])
        e_weights = np.column_stack([component.e_weights for component in components])
        rotations = self._swapped(found.w_deflation.rotations, found.e_deflation.rotations)
        self._store_rotations(prepared, views, self._swapped(w_weights, e_weights), rotations)
        self.anchors_ = np.array([component.anchor for component in components])
        self.correlations_ = np.array([component.correlation for component in components])
        self.converged_ = np.array([component.converged for component in components])
        for name in ("mu", "gamma", "objective", "dual_gap", "n_iter", "n_passes"):
            setattr(self, f"{name}_", np.array([getattr(result, name) for result in results]))
        return self

    def _swapped(self, first: Any, second: Any) -> tuple[Any, Any]:
        """From (X, Y) to (w view, e view) of the anchored problem, or back."""
        return (second, first) if self.representation == "dual-primal" else (first, second)

    def _settings(self, n_views: int = 2) -> AnchoredSettings:
        check_choice(self.representation, "representation", tuple(_DUAL_VIEWS))
        if self.n_candidates is not None:
            check_count(self.n_candidates, "n_candidates")
        return AnchoredSettings(
            mu=Penalty.parse(self.mu, "mu", zero_allowed=False),
            gamma=Penalty.parse(self.gamma, "gamma", zero_allowed=True),
            tol=check_tolerance(self.tol),
            max_iter=check_count(self.max_iter, "max_iter"),
            algorithm=check_choice(self.algorithm, "algorithm", tuple(ALGORITHMS)),
            signed=self.representation == "primal-primal",
            reading=self._reading(n_views),
            n_components=check_count(self.n_components, "n_components"),
        )

    def _bounded(self, settings: AnchoredSettings, views: Views) -> AnchoredSettings:
        return replace(settings, n_components=self._check_n_components(settings.n_components, views))
