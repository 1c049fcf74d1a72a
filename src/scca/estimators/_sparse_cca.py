"""Sparse canonical correlation analysis of two views: shared factors with weights on few features."""

import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from numbers import Integral
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import ConvergenceWarning

from .._checks import (
    DataWarning,
    EmptyComponentWarning,
    EvidenceWarning,
    Penalty,
    check_choice,
    check_count,
    check_seed,
    check_tolerance,
    shown,
    warn,
)
from .._types import MatrixLike, PenaltyLike, SeedLike
from .._wording import setting
from ..factors import Fit, Prepared, Settings, constants, fit_path, fit_prepared, is_doubtful, prepare_chosen, verdict
from ..progress import Checkpoint, Report, long_work
from ..samples import Views
from ..solver import DEFAULT_MAX_ITER
from ..views import Kernel, PreparedView
from ._base import PairedTransformer
from ._low_rank_kernel import LowRankKernel

__all__ = ["SparseCCA"]

logger = logging.getLogger(__name__)

_USUAL_EFFORT = {"tol": 1e-6, "max_iter": DEFAULT_MAX_ITER}
KernelLike = str | Callable[..., float] | Kernel | LowRankKernel


class SparseCCA(PairedTransformer):
    """Sparse CCA of two paired views: components that few features of each view predict.

    Each component is a shared factor, a score t that both views predict, found in three steps.

    1. Factors. With the prepared views A and B (rows are samples, centred and scaled), the leading solutions of
       regularised CCA,

           A'B w_b = sigma (A'A + lambda I) w_a,    B'A w_a = sigma (B'B + lambda I) w_b,

       give the scores t = A w_a + B w_b, which are made orthonormal, multiplied by sigma and rotated to simple
       structure (varimax of [A'T; B'T] with rows of about equal norm).
    2. Selection. In each view, the features of each factor are selected by an elastic net,

           min over w of  ||A w - t||^2 + mu ||w||_1 + lambda ||w||^2,

       with a certified duality gap.
    3. Weights. Ridge regression (4 lambda) on the selected features alone, first of t, then of the other view's scores.

    With up to 2,000 pairs, the views are first reduced to the features that predict each other, as long as mates are
    found almost as well (`n_features`). The model does not read a feature that has no weight in any component, not even
    for the norm of a sample: `transform` multiplies the view prepared from the features with weights by exactly
    `x_weights_`, and gives 0 for a sample without any of these features. `scca/factors/fit.py` is the whole method from
    top to bottom; `AnchoredCCA` is Hardoon and Shawe-Taylor's.

    Parameters
    ----------
    n_components : int or "auto", default=2
        Number of components, at most n_samples - 1 (n_samples without centring) and at most the number of features of a
        view with weights on features. "auto": the leading factors before the first five in a row that are no better
        than chance on pairs left out; at most 200, and at most half the number of pairs.
    rendering : {"sparse", "dense"} or a pair of them, default="sparse"
        Weights on few features, or on all by ridge regression. `("dense", "sparse")` is for an X whose single features
        mean nothing, such as an encoder's vectors, paired with a Y that should be readable.
    mu : "auto", "auto*FACTOR" or float, default="auto"
        Penalty on features, or on samples of a view with a kernel; the larger, the fewer weights. "auto" is 0.15 times
        the mean of |2 A't| over the features that are read, raised where a factor would have more than 100 weights (200
        if all features are read). "auto*0.5" is half the automatic value; a number is absolute.
    ridge : "auto", "auto*FACTOR" or float, default="auto"
        lambda, the ridge of the factors and of their weights, relative to samples of unit norm. "auto" is 0.25, and
        0.25 n_samples / 10,000 for more than 10,000 samples; "auto*4" is four times that. From 3,000 samples on,
        factors are found with sample weights that fall with leverage, so that a factor that a few samples share almost
        perfectly does not come before one that many share well. Weights on selected features use four times this ridge,
        raised (unless `ridge` is a number) until at least 1 / sqrt(n_samples) of a factor stays unexplained, so that
        few samples are not overfitted.
    feature_weights : "shared" or None, default="shared"
        Multiply every feature, before centring and scaling, by how well the other view predicts it: max(R^2, 0.02)^p,
        p = min(1/4, 2.5 / sqrt(n)), where R^2 is the share of its variance that ridge regression on the other view
        predicts for samples left out (from at most 2,000 pairs). Words without a counterpart in the other language
        count less. Features of a view with a kernel have no weights.
    n_features : "auto", int, float or None, default="auto"
        Number or share of the features of each view to read (a share gives at least half as many as there are pairs):
        those that the two views predict best from each other. The others get the weight 0 and are ignored, even for
        a sample's norm. Only with "shared" feature weights. None: all. "auto": all, except with a sparse rendering, no
        kernel and at most 2,000 pairs; then the smallest share, down to 0.15 or ten features per pair, whose
        factors, learnt from half of the pairs, find the mates of the other half with at least 0.85 times the precision
        (mean of 1 / rank) of the best share, and not worse by more than five standard errors.
    kernel : "linear", a kernel or a pair of them, default="linear"
        A kernel is a name from `sklearn.metrics.pairwise.pairwise_kernels`, a `Kernel` with parameters, a function of
        two rows, "precomputed" for a view that is the kernel matrix itself, or a `LowRankKernel`. A view with a kernel
        that is not linear has weights on its samples. A single such kernel is for Y; a pair names those of X and Y.
    center : bool, default=True
        Subtract the mean of every feature in training. Sparse data stay sparse.
    scale : {"auto", "columns", "rows", "both"} or None, or a pair of them, default="auto"
        What a view is divided by, learnt in training; sparse data stay sparse.

        - "columns": every column by its standard deviation, for tables. Constant columns drop out.
        - "rows": every sample by its norm, after centring, for counts and TF-IDF of words; as in the paper.
        - "both": columns, then samples by sqrt(b s^2 + (1 - b) ||x||^2), a norm shrunk towards that of all
          samples: s^2 is the mean of ||x||^2, and b is 1 for a single column, about 1 for few columns that vary on
          their own, and small for many columns whose samples differ in size (a drug with many known effects).
        - None: nothing is divided. Automatic penalties do not depend on the unit of the whole view, but columns with
          large numbers lead.
        - "auto": "rows" for a view without negative values of which at least half are zero, but more than one per
          sample is not; otherwise "both". The values decide, not whether the matrix is stored as a sparse one. A binary
          table is therefore scaled like words, though "both" may suit it better. "auto" is also "rows" for the dense
          view beside a sparse one, whose columns mean nothing by themselves, for kernel functions of your own and for
          precomputed kernels. `x_scale_` and `y_scale_` say what was chosen.

        With a named kernel that is not linear, columns are divided before the kernel is computed, and norms are those
        in the kernel's space.
    held_out : int or "auto", default="auto"
        Number of folds for `held_out_correlations_`, at least 2 and at most a third of the pairs (`n_folds_` is the
        actual number), or 0 for none. "auto": with fewer than 100 pairs (or groups of them) 5 folds, drawn twice; with
        up to 2,000, 8 folds; with more, 5. With 20,000 pairs or more, one fold is left out, of at most 20,000.
    tol : float, default=1e-6
        Duality gap to reach for each component, relative to ||t||^2.
    max_iter : int, default=1000
        Maximum number of solver rounds per component.
    n_jobs : int, optional
        Number of threads for a kernel that is not linear, and of folds fitted in parallel. Results do not depend on it.
    random_state : int, RandomState instance or None
        Draws the pairs that are left out and the orders in which they are permuted; None draws the same ones every
        time. What is learnt does not depend on it, except for an "auto" number of components.

    Attributes
    ----------
    n_components_ : int
        Number of components found; fewer than requested if the views are exhausted.
    x_scale_, y_scale_ : str or None
        How the views were scaled.
    x_weights_, y_weights_ : ndarray of shape (coordinates, n_components_)
        Mostly zeros: weights on the features of a view, on the samples of a view with a kernel.
    x_loadings_, y_loadings_ : ndarray
        Cosine of every prepared feature (sample of a view with a kernel) with each factor, times the length of the
        factor, which is at most 1 and smaller for weaker factors.
    held_out_correlations_ : ndarray of shape (n_components_,)
        Correlation of the two views' scores on pairs left out, with everything learnt from the other pairs. The j-th
        value is what the j-th strongest component of a fit to about this many pairs reaches on new pairs, whatever its
        features: each fold finds and orders its own components, since matching them to those of this fit would let the
        pairs left out choose. As folds learn from fewer pairs, the value tends to be too low (docs/evidence says by how
        much).
    held_out_intervals_ : ndarray of shape (n_components_, 2)
        Intervals for these correlations, at a level of 0.95.
    n_folds_ : int
        Number of folds that were fitted.
    p_value_ : float
        p-value of the test whether the two views of a pair go together better than those of permuted pairs. It has
        three statistics: how well the five leading factors of most pairs, with dense weights, hold on the others, once
        with the ridge of the model and once with nearly no whitening; and the strongest association of a feature of X
        with one of Y. All are computed again for 199 orders of the pairs, and the best rank counts, so that the test is
        exact. With so many pairs that this would take long, only the pairs that one fit leaves out are permuted.
    verdict_ : str
        What follows from the p-value, in one sentence.
    correlations_ : ndarray of shape (n_components_,)
        Cosine of the two training scores.
    mu_, objective_, dual_gap_, n_passes_ : ndarray of shape (2, n_components_)
        Penalty, objective, certified gap (absolute) and passes over the data, one row per view.
    n_iter_ : ndarray of shape (n_components_,)
    converged_ : ndarray of bool of shape (n_components_,)
        Whether every iteration for a component reached its tolerance.
    x_kernel_error_, y_kernel_error_ : float
        With a `LowRankKernel`: tr(K - ZZ') / tr K, the part of the kernel of the training samples that the
        approximation leaves out; for random features ||K - ZZ'|| / ||K||, from at most 1,000 samples. Above 0.1, `fit`
        warns.
    x_preparation_, y_preparation_ : scca.views.Preparation, KernelPreparation or LowRankPreparation
        How samples of each view are weighted, centred and scaled first.
    x_feature_weights_, y_feature_weights_ : ndarray or None
        The factors of the features, 0 for features that are not read; `x_weights_` apply to features so multiplied.
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

    _chooses_features = True

    def __init__(
        self,
        n_components: int | str = 2,
        *,
        rendering: str | tuple[str, str] = "sparse",
        mu: PenaltyLike = "auto",
        ridge: PenaltyLike = "auto",
        feature_weights: str | None = "shared",
        n_features: int | float | str | None = "auto",
        kernel: KernelLike | tuple[KernelLike, KernelLike] = "linear",
        center: bool = True,
        scale: Any = "auto",
        held_out: int | str = "auto",
        tol: float = 1e-6,
        max_iter: int = DEFAULT_MAX_ITER,
        n_jobs: int | None = None,
        random_state: SeedLike = None,
    ):
        self.n_components = n_components
        self.rendering = rendering
        self.mu = mu
        self.ridge = ridge
        self.feature_weights = feature_weights
        self.n_features = n_features
        self.kernel = kernel
        self.center = center
        self.scale = scale
        self.held_out = held_out
        self.tol = tol
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.random_state = random_state

    @property
    def _given_kernels(self) -> tuple[Any, Any]:
        kernel: Any = self.kernel
        return tuple(kernel) if isinstance(kernel, tuple | list) and len(kernel) == 2 else ("linear", kernel)

    def _sums_suffice(self) -> bool:
        return not self._dual_views

    def fit(self, X: MatrixLike, Y: MatrixLike, *, groups: ArrayLike | None = None) -> Self:
        """Learn the components of paired samples.

        Parameters
        ----------
        X : {array, sparse matrix, data frame} of shape (n_samples, n_features)
        Y : {array, sparse matrix, data frame} of shape (n_samples, n_features_y)
            Row i of X and row i of Y are the same sample. With a precomputed kernel the view is the
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
        return self._fit(X, Y, groups)

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

    # --- the method ------------------------------------------------------------------------------------------------

    def _prepare(self, views: Views, settings: Settings, first: PreparedView | None = None) -> Prepared:
        return prepare_chosen(views, settings, first)

    def _learn(self, prepared: Prepared, settings: Settings) -> Self:
        return self._keep(fit_prepared(prepared, settings), settings)

    def _learn_many(
        self, models: "Sequence[SparseCCA]", settings: Sequence[Settings], prepared: Prepared
    ) -> "Iterator[SparseCCA]":
        for model, each, fit in zip(models, settings, fit_path(prepared, settings), strict=True):
            yield model._keep(fit, each)

    def _keep(self, fit: Fit, settings: Settings) -> Self:
        """Store the result of a fit, and warn of its problems."""
        held_out, groups = fit.held_out, fit.prepared.groups
        _warn_of_shortcomings(fit, settings)
        self._store(fit.prepared, fit.projectors, fit.weights)
        self.x_loadings_, self.y_loadings_ = fit.loadings
        for name, values in fit.certificates.items():
            setattr(self, f"{name}_", values)
        self.n_iter_, self.correlations_, self.converged_ = fit.n_iter, fit.correlations, fit.converged
        if held_out is not None:
            self.held_out_correlations_, self.held_out_intervals_ = held_out.correlations, held_out.intervals
            self.n_folds_ = held_out.n_folds
            self.p_value_, self.verdict_ = held_out.p_value, verdict(held_out.p_value, groups)
        for j in range(self.n_components_):
            logger.info(
                "component %d: %d and %d weights, correlation %.4f, gap %.1e",
                *(j + 1, np.count_nonzero(self.x_weights_[:, j]), np.count_nonzero(self.y_weights_[:, j])),
                *(self.correlations_[j], self.dual_gap_[:, j].max()),
            )
        return self

    # --- parameters, checked once ----------------------------------------------------------------------------------

    def _settings(self) -> Settings:
        dense = self._dense_views()
        ridge = Penalty.parse(self.ridge, "ridge", zero_allowed=False)
        check_seed(self.random_state)
        return Settings(
            reading=self._reading(meaningless=tuple(each and not all(dense) for each in dense)),
            dense=dense,
            n_components=constants.MOST_COMPONENTS
            if self._is_counted
            else check_count(self.n_components, "n_components"),
            is_counted=self._is_counted,
            n_features=self.n_features,
            ridge=constants.RIDGE * ridge.factor if ridge.value is None else ridge.value,
            ridge_is_automatic=ridge.value is None,
            mu=Penalty.parse(self.mu, "mu", zero_allowed=False),
            effort=self._effort(dense),
            n_folds=self._folds(),
            n_jobs=self.n_jobs,
            random_state=self.random_state,
        )

    def _bounded(self, settings: Settings, views: Views) -> Settings:
        asked = None if settings.is_counted else settings.n_components
        return replace(settings, n_components=min(self._check_n_components(asked, views), settings.n_components))

    @property
    def _is_counted(self) -> bool:
        return isinstance(self.n_components, str) and self.n_components == "auto"

    def _dense_views(self) -> tuple[bool, ...]:
        """Which views have weights on all features."""
        asked = self.rendering
        pair = asked if isinstance(asked, tuple | list) and len(asked) == 2 else (asked, asked)
        return tuple(check_choice(each, "rendering", ("sparse", "dense")) == "dense" for each in pair)

    def _effort(self, dense: tuple[bool, ...]) -> dict[str, Any]:
        """The settings of the elastic nets; refused for dense renderings, which have none."""
        effort = {"tol": check_tolerance(self.tol), "max_iter": check_count(self.max_iter, "max_iter")}
        if not all(dense):
            return effort
        if not (isinstance(self.mu, str) and self.mu == "auto"):
            raise ValueError(f'mu is for rendering="sparse"; got {shown(self.mu)} with "dense": drop it.')
        for name, usual in _USUAL_EFFORT.items():
            if effort[name] != usual:
                raise ValueError(
                    f'{name} is for rendering="sparse"; got {shown(effort[name])} with "dense": leave it at {usual!r}.'
                )
        return effort

    def _folds(self) -> int | None:
        """The requested number of folds; None for as many as the pairs and time allow."""
        folds = self.held_out
        if isinstance(folds, str) and folds == "auto":
            return None
        if isinstance(folds, bool) or not isinstance(folds, Integral) or folds < 0 or folds == 1:
            raise ValueError(
                f'held_out must be "auto", 0 or an integer of at least 2; got {shown(folds)}: pass 2 or more folds, '
                "since each is left out of a fit to the others, or 0 to leave nothing out."
            )
        return int(folds)


def _warn_of_shortcomings(fit: Fit, settings: Settings) -> None:
    found = len(fit.converged)
    if found < fit.n_asked:
        warn(
            f"the views share {found} of {setting('n_components', fit.n_asked)} factors; set "
            f"{setting('n_components', found)}.",
            ConvergenceWarning,
        )
    if not fit.factors_converged:
        remedy = f"ask for fewer components, or raise {setting('ridge')}"
        warn(f"the factors did not converge; {remedy}.", ConvergenceWarning)
    for sentence in fit.unsolved:
        warn(sentence, ConvergenceWarning)
    empty = sum(not all(weights[:, j].any() for weights in fit.weights) for j in range(found))
    if empty:
        warn(
            f"{empty} of {found} components have no weight in one of the views; lower {setting('mu')}.",
            EmptyComponentWarning,
        )
    if settings.is_counted and found == constants.MOST_COMPONENTS:
        warn(
            f"{setting('n_components', 'auto')} stopped at {found}, the most that it looks for, and the pairs may "
            f"share more; give {setting('n_components')} as a number to have more.",
            DataWarning,
        )
    if fit.held_out is not None and is_doubtful(fit.held_out.p_value):
        warn(verdict(fit.held_out.p_value, fit.prepared.groups), EvidenceWarning)
