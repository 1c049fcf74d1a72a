"""Sparse canonical correlation analysis as a scikit-learn estimator: shared factors, or the paper's method."""

import logging
from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from .._checks import Penalty, check_choice, check_count, check_seed, check_tolerance, check_verbose
from .._types import MatrixLike, PenaltyLike, SeedLike
from ..anchored import Extraction, Settings, anchor_strategy, extract_components
from ..factors import FactorSettings, PreparedPair
from ..parallel import blas_threads_for
from ..progress import Checkpoint, Report, long_work
from ..solver import ALGORITHMS, DEFAULT_MAX_ITER
from ..views import FeatureView, linear_kernel_view
from ._factor_components import FactorComponents, refuse_without_factors
from ._low_rank_kernel import LowRankKernel

__all__ = ["PAPER", "SparseCCA"]

PAPER = {
    "anchors": "sequential",
    "representation": "primal-dual",
    "mu": "auto",
    "gamma": "auto",
    "feature_weights": None,
    "kernel": "linear",
    "center": True,
    "scale": "rows",
    "held_out": 0,
}
"""The paper's settings, `SparseCCA(50, **PAPER)`, whatever the defaults become."""

# which views have weights on their samples; the anchored view is X only in "dual-primal"
_DUAL_VIEWS: dict[str, tuple[str, ...]] = {
    "auto": ("Y",),
    "primal-dual": ("Y",),
    "dual-primal": ("X",),
    "primal-primal": (),
    "dual-dual": ("X", "Y"),
}


class SparseCCA(FactorComponents):
    """Sparse CCA of two paired views: components that few features of each view predict.

    By default each component is a shared factor, a score t that both views predict, found in three steps.

    1. Factors. With the prepared views A and B (rows are samples, centred and scaled to unit norm), the leading
       solutions of regularised CCA,

           A'B w_b = sigma (A'A + lambda I) w_a,    B'A w_a = sigma (B'B + lambda I) w_b,

       give the scores t = A w_a + B w_b, which are made orthonormal, multiplied by sigma and rotated to simple
       structure (varimax of [A'T; B'T] with rows of about equal norm).
    2. Selection. In each view, the features of each factor are selected by an elastic net,

           min over w of  ||A w - t||^2 + mu ||w||_1 + lambda ||w||^2,

       with a certified duality gap.
    3. Weights. Ridge regression (4 lambda) on the selected features alone, first of t, then of the scores that the
       other view's weights give.

    With up to 2,000 pairs, the views are first reduced to the features that predict each other, as long as mates are
    found almost as well (`n_features`). A feature without a weight in any component is not used at all, not even for
    the norm of a sample: `transform` multiplies the view prepared from the used features by exactly `x_weights_`, and
    gives 0 for a sample that has none of them.

    With `anchors`, components are those of Hardoon and Shawe-Taylor's paper instead, and `SparseCCA(50, **PAPER)` is
    exactly its method. For each component j, with an anchor sample k, it solves the convex problem

        min over w, e of  ||X_j w - K_j e||^2 + mu ||w||_1 + gamma sum_{i != k} e_i,    0 <= e <= 1,  e_k = 1

    to a certified duality gap (X_1 is the primal view and K_1 the kernel matrix of the dual view), then deflates: with
    u = X_j'X_j w and t = X_j u, X_{j+1} is X_j with t projected out of its columns, and K_{j+1} is K_j with
    tau = K_j K_j e projected out on both sides. New samples are projected on `x_rotations_`, which use all features.

    Parameters
    ----------
    n_components : int or "auto", default=2
        Number of components, at most n_samples - 1 (n_samples without centring) and at most the number of features of a
        view with weights on features. "auto" (shared factors only): the leading factors, up to the first five in a
        row that are no better than chance on pairs left out; at most 200, and half as many as pairs.
    anchors : None, "sequential", "cross-energy" or sequence of int, default=None
        None: shared factors. Otherwise the anchor of each component, a sample of the dual view (with "primal-primal" a
        feature of Y; then read "feature" for "sample" below):

        - "sequential": the samples in order (the paper's choice);
        - "cross-energy": the sample with the largest ||X_j'K_j e_k||^2, how much of it the other view explains; exact
          up to 256 samples, otherwise estimated from 16 products with random vectors;
        - a sequence: the given indices, in that order.

        An anchor whose component is empty (w = 0) is skipped and tried again after all others.
    representation : {"auto", "primal-dual", "dual-primal", "primal-primal", "dual-dual"}, default="auto"
        Which view has weights on its features (primal) and which on its samples (dual); X first, then Y. "auto": for
        shared factors, features of both views, but samples of Y if the kernel is not linear; for anchored components
        "primal-dual", as in the paper. An anchored primal view (Y in "primal-primal") has a feature as its anchor; the
        other features, with signs chosen to correlate positively with it, get weights between 0 and 1.
    rendering : {"sparse", "dense"} or a pair of them, default="sparse"
        Shared factors only: weights on few features, or on all by ridge regression. `("dense", "sparse")` is for an X
        whose single features mean nothing, such as an encoder's vectors, paired with a Y that should be readable.
    mu, gamma : "auto", "auto*FACTOR" or float, default="auto"
        Penalties on features and on samples; the larger, the fewer weights. For shared factors "auto" is 0.15 times the
        mean of |2 A't| over the features in use, raised where a factor would have more than 100 weights (200 if all
        features are used). For anchored components it is the paper's rule, the mean over all features (samples) of
        |2 X_j'K_j e| (|2 K_j^2 e|) with e at the anchor alone, recomputed for each component. "auto*0.5" is half the
        automatic value; a number is absolute.
    ridge : "auto", "auto*FACTOR" or float, default="auto"
        Shared factors only: lambda, the ridge of the factors and of their weights, relative to samples of unit norm.
        "auto" is 0.25, and 0.25 n_samples / 10,000 for more than 10,000 samples; "auto*4" is four times that. From
        3,000 samples on, factors are found with sample weights that fall with leverage, so that what a few samples
        share almost perfectly does not come before what many share well. Weights
        on selected features use four times this ridge, raised (unless `ridge` is a number) until at least
        1 / sqrt(n_samples) of a factor stays unexplained, so that few samples are not overfitted.
    feature_weights : "shared" or None, default="shared"
        Multiply every feature, before centring and scaling, by how well the other view predicts it: max(R^2, 0.02)^p,
        p = min(1/4, 2.5 / sqrt(n)), where R^2 is the share of its variance that ridge regression on the other view
        predicts for samples left out (from at most 2,000 pairs). Words without a counterpart in the other language
        count less. Not for the features of a kernel that is not linear.
    n_features : "auto", int, float or None, default="auto"
        How many features of each view to use, or which share of them (but at least half as many as there are pairs):
        those that the two views predict best from each other. The others get the weight 0 and are ignored, even for
        a sample's norm. Only with "shared" feature weights. None: all. "auto": all, except for shared factors with the
        sparse rendering and at most 2,000 pairs; then the smallest share, down to 0.15 or ten features per pair, whose
        factors, learnt from half of the pairs, find the mates of the other half with at least 0.85 times the precision
        (mean of 1 / rank) of the best share, and not worse by more than five standard errors.
    kernel : str, callable or LowRankKernel, default="linear"
        Kernel of the dual view: a name from `sklearn.metrics.pairwise.pairwise_kernels`, a function of two rows, or
        "precomputed" if that view is the kernel matrix itself. A kernel that is not linear is stored as an n x n
        matrix; `LowRankKernel("rbf", rank=300)` approximates it for more samples.
    kernel_params : dict, optional
        Parameters of the kernel.
    center : bool, default=True
        Subtract the mean of every feature in training. Sparse data stay sparse.
    scale : {"auto", "columns", "rows", "both"} or None, or a pair of them, default="auto"
        What a view is divided by, learnt in training; sparse data stay sparse.

        - "columns": every column by its standard deviation, for tables. Constant columns drop out.
        - "rows": every sample by its norm, after centring, for counts and TF-IDF of words; as in the paper.
        - "both": columns, then samples by sqrt(b s^2 + (1 - b) ||x||^2), a norm that is shrunk towards that of all
          samples: s^2 is the mean of ||x||^2, and b is 1 for a single column, about 1 for few columns that vary on
          their own, and small for many columns whose samples differ in size (a drug with many known effects).
        - None: neither. Penalties that are automatic do not depend on the unit of the whole view, but columns in
          large units lead.
        - "auto": "rows" for a view without negative values of which at least half are zero, and more than one per
          sample is not; otherwise "both". It is values that decide, not whether a matrix is stored as a sparse one. So
          a binary table is scaled like words; "both" may suit it better. "rows" also for the dense view beside a sparse
          one, whose columns mean nothing by themselves, and for kernels of your own and precomputed ones. `x_scale_`
          and `y_scale_` say what was chosen.

        With a named kernel that is not linear, columns are divided before the kernel is computed, and norms are those
        in the kernel's space.
    held_out : int or "auto", default="auto"
        Shared factors only: number of folds for `held_out_correlations_`, at least 2 and at most a third of the pairs
        (`n_folds_` is how many there are), or 0 for none. "auto": with fewer than 100 pairs (or groups of them) 5
        folds, drawn twice; with up to 2,000, 8 folds; with more, 5. With 20,000 pairs or more, only the first fold is
        left out, and at most 20,000 pairs.
    algorithm : {"working-set", "greedy"}, default="working-set"
        For anchored components: the fast solver, or the paper's Algorithms 1 to 3.
    tol : float, default=1e-6
        Duality gap to reach for each component, relative to ||t||^2 (||K_j[:, k]||^2 with anchors).
    max_iter : int, default=1000
        Maximum number of solver rounds per component.
    n_jobs : int, optional
        Threads that compute a kernel that is not linear, and folds fitted in parallel. The results do not depend on it.
    random_state : int, RandomState instance or None
        Draws the pairs that are left out and the orders in which they are permuted; None draws the same ones every
        time. What is learnt does not depend on it, except by the number of components if that is "auto". A
        `LowRankKernel` has its own.
    verbose : int, default=0
        Above 0, each component is logged at level INFO, otherwise DEBUG (logger `scca`).

    Attributes
    ----------
    n_components_ : int
        Number of components found; fewer than requested if the views are exhausted.
    x_scale_, y_scale_ : str or None
        How the views were scaled.
    x_weights_, y_weights_ : ndarray of shape (coordinates, n_components_)
        Mostly zeros: weights on the features of a primal view, on the samples of a dual one. For anchored components
        w_j and e_j, scaled so that the scores on the deflated training views have unit norm.
    x_loadings_, y_loadings_ : ndarray
        Shared factors only: cosine of every prepared feature (sample of a dual view) with each factor.
    held_out_correlations_ : ndarray of shape (n_components_,)
        Shared factors only: correlation of the two views' scores on pairs left out, with everything learnt from the
        other pairs. The j-th value is what the j-th strongest component of a fit to about this many pairs reaches on
        new pairs, whatever its features: each fold finds and orders its components by itself, since matching them to
        these would let the pairs left out choose. As folds learn from fewer pairs, it is rather too low than too high
        (docs/evidence has by how much).
    held_out_intervals_ : ndarray of shape (n_components_, 2)
        Shared factors only: where that correlation lies, at a level of 0.95.
    n_folds_ : int
        Shared factors only: number of fits for these.
    p_value_ : float
        Shared factors only: p-value of the test whether the two views of a pair go together better than those of
        permuted pairs: by how well the five leading factors of most pairs, with dense weights, hold on the others,
        once with the ridge of the model and once with nearly no whitening, and by the strongest association of a
        feature of X with a feature of Y. All three are computed again for 199 orders of the pairs, and the best rank
        counts, so that the test is exact. With so many pairs that this takes long, one fit leaves pairs out, and only
        these are permuted.
    verdict_ : str
        Shared factors only: what follows from the p-value, in one sentence.
    correlations_ : ndarray of shape (n_components_,)
        Cosine of the two training scores, the paper's rho.
    mu_, gamma_, objective_, dual_gap_, n_passes_ : ndarray
        Penalties, objective, certified gap (absolute) and passes over the data of each component. For shared factors,
        one row per view; `gamma_` are the rows of `mu_` that are penalties on samples.
    n_iter_ : ndarray of shape (n_components_,)
    converged_ : ndarray of bool of shape (n_components_,)
        Whether every iteration for a component reached its tolerance.
    anchors_ : ndarray of int
        With anchors.
    x_rotations_, y_rotations_ : ndarray of shape (coordinates, n_components_)
        With anchors, the projection directions: the prepared training view times these gives orthonormal scores.
    x_kernel_error_, y_kernel_error_ : float
        With a `LowRankKernel`, for each dual view: tr(K - ZZ') / tr K, what the approximation leaves out of the kernel
        of the training samples; for random features ||K - ZZ'|| / ||K||, from at most 1,000 samples. Above 0.1, `fit`
        warns.
    x_preparation_, y_preparation_ : scca.views.Preparation, KernelPreparation or LowRankPreparation
        How samples of each view are weighted, centred and scaled first.
    x_feature_weights_, y_feature_weights_ : ndarray or None
        The factors by which features were multiplied, 0 for unused ones; `x_weights_` apply to features so weighted.
    n_features_in_, n_features_y_ : int
    feature_names_in_, feature_names_y_ : ndarray of str
        Only if the view was a data frame with string column names.

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
        kernel: str | Callable[..., float] | LowRankKernel = "linear",
        kernel_params: dict[str, Any] | None = None,
        center: bool = True,
        scale: Any = "auto",
        held_out: int | str = "auto",
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
        self.scale = scale
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
        if not isinstance(self.representation, str):  # scikit-learn asks before `fit` has checked it
            return ()
        if self.representation == "auto" and self.anchors is None and self._is_linear:
            return ()
        return _DUAL_VIEWS.get(self.representation, ())

    @property
    def _is_linear(self) -> bool:
        return isinstance(self.kernel, str) and self.kernel == "linear"

    def fit(self, X: MatrixLike, Y: MatrixLike, *, groups: ArrayLike | None = None) -> Self:
        """Learn the components of paired samples.

        Parameters
        ----------
        X : {array, sparse matrix, data frame} of shape (n_samples, n_features)
        Y : {array, sparse matrix, data frame} of shape (n_samples, n_features_y)
            Row i of X and row i of Y are the same sample. With `kernel="precomputed"` the dual view is the
            (n_samples, n_samples) kernel matrix itself.

            Features in arrays of float32 or float64, such as memory-mapped files (`np.load(..., mmap_mode="r")`), are
            read in blocks and never copied as a whole.
        groups : array of shape (n_samples,), optional
            A label for each sample; samples with the same label belong together, such as repeated measures of a
            person, sentences of a document or volumes of a run. They are left out together wherever pairs are left out,
            and permuted as a whole, with groups of the same size.

        Returns
        -------
        self
        """
        return self.fit_prepared(self.prepare(X, Y, groups))

    def fit_with_progress(
        self,
        X: MatrixLike,
        Y: MatrixLike,
        progress: Report | None = None,
        checkpoint: Checkpoint | None = None,
        *,
        groups: ArrayLike | None = None,
    ) -> Self:
        """`fit`, calling `progress(what, done, total)` now and then and storing its steps in `checkpoint`."""
        with long_work(progress, checkpoint):
            return self.fit(X, Y, groups=groups)

    def fit_prepared(self, pair: PreparedPair) -> Self:
        """Learn the components from the result of `prepare`."""
        settings = self._check_settings()
        if isinstance(settings, FactorSettings):
            return self._fit_factors(pair, settings)
        w_view, e_view = self._swapped(pair.views["X"], pair.views["Y"])
        strategy = anchor_strategy(self.anchors, e_view.shape[1], pair.n_components)
        level = logging.INFO if self.verbose else logging.DEBUG
        with blas_threads_for(w_view.n_stored, e_view.n_stored):
            found = extract_components(w_view, e_view, pair.n_components, strategy, settings, level)

        w_weights = np.column_stack([component.w_weights for component in found.components])
        e_weights = np.column_stack([component.e_weights for component in found.components])
        weights = self._swapped(w_weights, e_weights)
        rotations = self._swapped(found.w_deflation.rotations, found.e_deflation.rotations)
        self._set_views(pair, weights, rotations)
        self._set_diagnostics(found)
        return self

    def _swapped(self, first: Any, second: Any) -> tuple[Any, ...]:
        """From (X, Y) to (w view, e view) of the anchored problem, or back."""
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
