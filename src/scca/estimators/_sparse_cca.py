"""Sparse canonical correlation analysis: the paper's method as a scikit-learn estimator."""

import logging
from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np

from .._types import MatrixLike, PenaltyLike, SeedLike
from .._validation import check_choice, check_count, check_seed, check_tolerance, check_verbose
from ..engine import blas_threads_for
from ..solver import ALGORITHMS, DEFAULT_MAX_ITER, Penalty
from ..views import FeatureView, linear_kernel_view
from ._anchors import anchor_strategy
from ._components import Extraction, Settings, extract_components
from ._factor_components import FactorComponents, refuse_without_factors
from ._factor_settings import FactorSettings
from ._preparing import PreparedPair

__all__ = ["PAPER", "SparseCCA"]

PAPER = {
    "anchors": "sequential",
    "representation": "primal-dual",
    "mu": "auto",
    "gamma": "auto",
    "feature_weights": None,
    "kernel": "linear",
    "center": True,
    "normalize": True,
    "held_out": 0,
}
"""The paper's settings, `SparseCCA(50, **PAPER)`, whatever the defaults become."""

# which views have weights on their samples; the anchored one, the problem's second, is X only in "dual-primal"
_DUAL_VIEWS: dict[str, tuple[str, ...]] = {
    "auto": ("Y",),
    "primal-dual": ("Y",),
    "dual-primal": ("X",),
    "primal-primal": (),
    "dual-dual": ("X", "Y"),
}


class SparseCCA(FactorComponents):
    """Sparse CCA of two paired views: what they share, as scores that few features of each view give.

    A component is a shared factor. With the prepared views A and B (rows are samples, centred and scaled to unit norm),
    the leading solutions of regularised CCA,

        A'B w_b = sigma (A'A + lambda I) w_a,    B'A w_a = sigma (B'B + lambda I) w_b,

    are pooled to scores t = A w_a + B w_b, made orthonormal, weighted by sigma and turned to simple structure (varimax
    of [A'T; B'T], its rows brought to about the same norm). Of up to 2,000 pairs the views are first reduced to the
    features that predict each other, as far as mates are found almost as well (`n_features`). In each view, a factor's
    features are selected by

        min over w of  ||A w - t||^2 + mu ||w||_1 + lambda ||w||^2,

    certified by a duality gap, and weighed by ridge regression (4 lambda) on those alone: of t, and then of the scores
    that the features selected in the other view have. A feature without a weight in any component is not read at all,
    not even for the norm of a sample: `transform` is the view so prepared times exactly `x_weights_`, and 0 for a
    sample without any feature that is read.

    With `anchors`, components are those of Hardoon and Shawe-Taylor's paper instead, and `SparseCCA(50, **PAPER)` is
    its method exactly. For each component j, with an anchor sample k, it solves the convex problem

        min over w, e of  ||X_j w - K_j e||^2 + mu ||w||_1 + gamma sum_{i != k} e_i,    0 <= e <= 1,  e_k = 1

    to a certified duality gap (X_1 is the primal view and K_1 the kernel matrix of the dual view), then deflates: with
    u = X_j'X_j w and t = X_j u, X_{j+1} is X_j with its samples projected off t, and K_{j+1} is K_j projected off
    tau = K_j K_j e on both sides. New samples are projected on `x_rotations_`, which spread over all features.

    Parameters
    ----------
    n_components : int or "auto", default=2
        How many components, at most n_samples - 1 (n_samples without centring) and the features of a view that has
        weights on them. "auto" (factors only): those before the first of which neither it nor any after it holds on
        pairs left out better than chance, 200 at most.
    anchors : None, "sequential", "cross-energy" or sequence of int, default=None
        None: shared factors. Otherwise the anchor of each component, a sample of the dual view (a feature of Y with
        "primal-primal", and what is said of samples here holds for its features):

        - "sequential": the samples in order (the paper's choice);
        - "cross-energy": the sample with the largest ||X_j'K_j e_k||^2, how much of it the other view sees; exact up to
          256 samples, otherwise estimated from 16 products with random vectors;
        - a sequence: the indices given, in that order.

        An anchor whose component is empty (w = 0) is passed over and tried again when the others have had their turn.
    representation : {"auto", "primal-dual", "dual-primal", "primal-primal", "dual-dual"}, default="auto"
        Which view has weights on its features (primal) and which on its samples (dual); X first, then Y. "auto": of
        shared factors features of both views, but samples of Y where the kernel is not linear; of anchored components
        "primal-dual", the paper's. An anchored primal view (Y of "primal-primal") has a feature for its anchor: the
        others, each turned to where it goes with the anchor, join it with weights between 0 and 1.
    rendering : {"sparse", "dense"} or a pair of them, default="sparse"
        Of shared factors: weights on few features, or on all by ridge regression. `("dense", "sparse")` is for an X
        whose features mean nothing one by one, such as an encoder's vectors, beside a Y that is to be read.
    mu, gamma : "auto", "auto*FACTOR" or float, default="auto"
        Penalties on the features and on the samples; more penalty, fewer weights. Of shared factors "auto" is 0.15
        times the mean of |2 A't| over the features that are read, and more where a factor would have more than 100
        weights (200 where all features are read). Of anchored components it is the paper's rule, the mean over all
        features (samples) of |2 X_j'K_j e| (|2 K_j^2 e|) at e = the anchor alone, anew for each. "auto*0.5" is half of
        it; a number is absolute.
    ridge : "auto", "auto*FACTOR" or float, default="auto"
        Of shared factors: lambda, the ridge of the factors and of their weights; "auto" is 0.25, beside samples of unit
        norm, and of more than 10,000 samples in proportion to their number, 0.25 n_samples / 10,000; "auto*4" is four
        times that. The weights on few features have four times this ridge, and unless it is a number one that leaves at
        least 1 / sqrt(n_samples) of a factor unexplained: few samples cannot tell more.
    feature_weights : "shared" or None, default="shared"
        Multiply every feature, before centring and scaling, by how well the other view predicts it: max(R^2, 0.02)^p,
        p = min(1/4, 2.5 / sqrt(n)), R^2 the share of its variance that ridge regression on the other view predicts for
        samples left out (from at most 2,000 pairs). Words that the other language has no word for count less. Not for
        the features behind a kernel that is not linear.
    n_features : "auto", int, float or None, default="auto"
        How many features of either view to read, or which share of them (but no fewer than half as many as there are
        pairs): those that the two views predict best from each other; the others get the weight 0 and are never looked
        at, not even for a sample's norm. With "shared" feature weights only. None is all. "auto" is all too,
        but of shared factors in their sparse rendering the smallest share, down to 0.15 or ten features a pair,
        whose factors, learnt from half of the pairs, find the mates of the other half with at least 0.85 times the
        precision (mean of 1 / rank) of the best share and not surely worse (by five standard errors). Of more than
        2,000 pairs, all features are read.
    kernel : str or callable, default="linear"
        Kernel of the dual view: a name from `sklearn.metrics.pairwise.pairwise_kernels`, a function of two rows, or
        "precomputed", when that view is the kernel matrix itself.
    kernel_params : dict, optional
        Parameters of the kernel.
    center, normalize : bool, default=True
        Centre both views, and scale every sample to unit norm, in that order. Sparse data stay sparse.
    held_out : int, default=5
        Of shared factors: folds by which `held_out_correlations_` are found, 0 for none. From 20,000
        pairs on only the first fold is left out, and 20,000 pairs at most.
    algorithm : {"working-set", "greedy"}, default="working-set"
        The fast solver, or the paper's Algorithms 1 to 3.
    tol : float, default=1e-6
        Duality gap to reach for each component, relative to ||t||^2 (||K_j[:, k]||^2 with anchors).
    max_iter : int, default=1000
        The most rounds of the solver a component.
    n_jobs : int, optional
        Threads that compute a kernel that is not linear, and folds left out at a time. The results do not depend on it.
    random_state : int, RandomState instance or None
        Draws the pairs that are left out; None draws the same ones every time. Nothing else is random.
    verbose : int, default=0
        Above 0, each component is logged at level INFO, otherwise DEBUG (logger `scca`).

    Attributes
    ----------
    n_components_ : int
        How many components were found; fewer than asked if the views are exhausted.
    x_weights_, y_weights_ : ndarray of shape (coordinates, n_components_)
        Mostly zeros: weights on the features of a primal view, on the samples of a dual one. Of anchored components
        w_j and e_j, scaled so that the scores on the deflated training views have unit norm.
    x_loadings_, y_loadings_ : ndarray
        Of shared factors: cosine of every prepared feature (sample of a dual view) with each factor.
    held_out_correlations_ : ndarray of shape (n_components_,)
        Of shared factors: correlation of the two views' scores on pairs left out, everything learnt from the others.
    p_value_ : float
        Of shared factors: of the largest held-out correlation, against permuted pairs left out.
    correlations_ : ndarray of shape (n_components_,)
        Cosine of the two training scores, the paper's rho.
    mu_, gamma_, objective_, dual_gap_, n_passes_ : ndarray
        Penalties, objective, certified gap (absolute) and effort of each component. Of shared factors they have a row
        for each view; `gamma_` are the rows of `mu_` that are penalties on samples.
    n_iter_ : ndarray of shape (n_components_,)
    converged_ : ndarray of bool of shape (n_components_,)
        Whether everything that iterates for a component reached its tolerance.
    anchors_ : ndarray of int
        With anchors.
    x_rotations_, y_rotations_ : ndarray of shape (coordinates, n_components_)
        With anchors, the projection directions: the prepared training view times these is an orthonormal set of scores.
    x_preparation_, y_preparation_ : scca.views.Preparation or KernelPreparation
        How samples of each view are weighted, centred and scaled before anything else.
    x_feature_weights_, y_feature_weights_ : ndarray or None
        What the features were multiplied with, 0 for those that are not read; weights are of the features so weighted.
    n_features_in_, n_features_y_ : int
    feature_names_in_, feature_names_y_ : ndarray of str
        Only where the view was a data frame with string column names.

    Examples
    --------
    >>> import scca
    >>> X, Y = scca.datasets.make_planted(100, 40, 30, random_state=0).views
    >>> model = scca.SparseCCA(3).fit(X, Y)
    >>> x_scores, y_scores = model.transform_pair(X, Y)
    >>> x_scores.shape
    (100, 3)
    """

    def __init__(
        self,
        n_components: int | str = 2,
        *,
        anchors: str | Sequence[int] | None = None,
        representation: str = "auto",
        rendering: str = "sparse",
        mu: PenaltyLike = "auto",
        gamma: PenaltyLike = "auto",
        ridge: PenaltyLike = "auto",
        feature_weights: str | None = "shared",
        n_features: int | float | str | None = "auto",
        kernel: str | Callable[..., float] = "linear",
        kernel_params: dict[str, Any] | None = None,
        center: bool = True,
        normalize: bool = True,
        held_out: int = 5,
        algorithm: str = "working-set",
        tol: float = 1e-6,
        max_iter: int = DEFAULT_MAX_ITER,
        n_jobs: int | None = None,
        random_state: SeedLike = None,
        verbose: int = 0,
    ):
        self.n_components = n_components
        self.anchors = anchors
        self.representation = representation
        self.rendering = rendering
        self.mu = mu
        self.gamma = gamma
        self.ridge = ridge
        self.feature_weights = feature_weights
        self.n_features = n_features
        self.kernel = kernel
        self.kernel_params = kernel_params
        self.center = center
        self.normalize = normalize
        self.held_out = held_out
        self.algorithm = algorithm
        self.tol = tol
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    @property
    def _anchors_are_samples(self) -> bool:
        return self.representation != "primal-primal"

    @property
    def _dual_views(self) -> tuple[str, ...]:
        if not isinstance(self.representation, str):  # scikit-learn asks before `fit` has refused it
            return ()
        if self.representation == "auto" and self.anchors is None and self._is_linear:
            return ()
        return _DUAL_VIEWS.get(self.representation, ())

    @property
    def _is_linear(self) -> bool:
        return isinstance(self.kernel, str) and self.kernel == "linear"

    def fit(self, X: MatrixLike, Y: MatrixLike) -> Self:
        """Learn the components of paired samples.

        Parameters
        ----------
        X : {array, sparse matrix, data frame} of shape (n_samples, n_features)
        Y : {array, sparse matrix, data frame} of shape (n_samples, n_features_y)
            Row i of both is the same thing. The dual view is the (n_samples, n_samples) kernel matrix itself if
            `kernel="precomputed"`.

        Returns
        -------
        self
        """
        return self.fit_with_progress(X, Y)

    def fit_with_progress(
        self, X: MatrixLike, Y: MatrixLike, progress: Callable[[int, int], None] | None = None
    ) -> Self:
        """`fit`, calling `progress(done, all)` after every component; of shared factors, after every fold left out."""
        return self.fit_prepared(self.prepare(X, Y), progress)

    def fit_prepared(self, pair: PreparedPair, progress: Callable[[int, int], None] | None = None) -> Self:
        """Learn the components of what `prepare` made of the data."""
        settings = self._check_settings()
        if isinstance(settings, FactorSettings):
            return self._fit_factors(pair, settings, progress)
        left, right = self._turned(pair.views["X"], pair.views["Y"])
        strategy = anchor_strategy(self.anchors, right.shape[1], pair.n_components)
        level = logging.INFO if self.verbose else logging.DEBUG
        with blas_threads_for(left.n_stored, right.n_stored):
            found = extract_components(left, right, pair.n_components, strategy, settings, level, progress)

        left_weights = np.column_stack([component.left_weights for component in found.components])
        right_weights = np.column_stack([component.right_weights for component in found.components])
        weights = self._turned(left_weights, right_weights)
        rotations = self._turned(found.left.rotations, found.right.rotations)
        self._set_views(pair, weights, rotations)
        self._set_diagnostics(found)
        return self

    def _turned(self, first: Any, second: Any) -> tuple[Any, ...]:
        """From X and Y to the problem's left and right view, the right one being anchored; or back."""
        return (second, first) if self.representation == "dual-primal" else (first, second)

    def _view(self, view: Any, name: str, n_components: int) -> Any:
        dual = name in self._dual_views and isinstance(view, FeatureView)
        return linear_kernel_view(view, n_components) if dual else view

    def _check_settings(self) -> Settings | FactorSettings:
        check_choice(self.representation, "representation", tuple(_DUAL_VIEWS))
        if self.anchors is None:
            return self._check_factor_settings()
        refuse_without_factors(self)
        self._check_weighting()
        check_seed(self.random_state)
        check_verbose(self.verbose)
        return Settings(
            mu=Penalty.parse(self.mu, "mu", zero_allowed=False),
            gamma=Penalty.parse(self.gamma, "gamma", zero_allowed=True),
            tol=check_tolerance(self.tol),
            max_iter=check_count(self.max_iter, "max_iter"),
            algorithm=check_choice(self.algorithm, "algorithm", tuple(ALGORITHMS)),
            oriented=self.representation == "primal-primal",
        )

    def _set_diagnostics(self, found: Extraction) -> None:
        components = found.components
        results = [component.result for component in components]
        self.anchors_ = np.array([component.anchor for component in components])
        self.correlations_ = np.array([component.correlation for component in components])
        self.converged_ = np.array([component.converged for component in components])
        self.mu_ = np.array([result.mu for result in results])
        self.gamma_ = np.array([result.gamma for result in results])
        self.objective_ = np.array([result.objective for result in results])
        self.dual_gap_ = np.array([result.dual_gap for result in results])
        self.n_iter_ = np.array([result.n_iter for result in results])
        self.n_passes_ = np.array([result.n_passes for result in results])
