"""Sparse canonical correlation analysis of two views: `MultiSparseCCA` with the names of scikit-learn."""

from typing import Any, Self

from numpy.typing import ArrayLike

from .._types import MatrixLike
from ._multi_sparse_cca import MultiSparseCCA
from ._paired import PairedTransformer

__all__ = ["SparseCCA"]


# two views are two arguments, as users of scikit-learn know it, where `MultiSparseCCA` takes a list
class SparseCCA(PairedTransformer, MultiSparseCCA):  # type: ignore[misc]
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
    3. Weights, by ridge regression first of t, then of the other view's scores: on the features that were selected
       for the factor (`rendering="sparse"`, for tables), or on all that the model reads, of which the selected ones are
       shown to a reader (`"joint"`, for words).

    Before that, the features that the model reads are chosen for all factors together: factors are found, the features
    with the smallest parts in their scores are dropped, and so on, down to the fewest that lose nothing measurable on
    pairs left out (`n_features`). Features without a weight in any component have no effect, not even on the norm of a
    sample: `transform` multiplies the view prepared from the features with weights by exactly `x_weights_`, and gives 0
    for a sample without any of these features. `scca/factors/fit.py` is the whole method from top to bottom;
    `AnchoredCCA` is Hardoon and Shawe-Taylor's.

    Parameters
    ----------
    n_components : int or "auto", default=2
        Number of components, at most n_samples - 1 (n_samples without centring) and at most the number of features of a
        view with weights on features. "auto": the leading factors before the first five in a row that are no better
        than chance on pairs left out; at most 200, and at most half the number of pairs.
    rendering : {"auto", "sparse", "joint", "dense"} or a pair of them, default="auto"
        "sparse": each component weighs few features. "joint": each weighs all features that the model reads, which
        finds more mates, and shows those that the elastic net selects for it (`shown_`). "dense": each weighs all
        features. "auto": "joint" for a view whose samples alone are scaled (`scale`), such as words, otherwise
        "sparse". `("dense", "sparse")` is for an X whose single features mean nothing, such as an encoder's vectors,
        paired with a Y that should be readable. A view with a kernel that is not linear is never "joint".
    mu : "auto", "auto*FACTOR" or float, default="auto"
        Penalty on features, or on samples of a view with a kernel; the larger, the fewer weights. "auto" is 0.15 times
        the mean of |2 A't| over the features that are read, raised where a factor would have more than 100 weights (200
        if all features are read). "auto*0.5" is half the automatic value; a number is absolute.
    ridge : "auto", "auto*FACTOR" or float, default="auto"
        lambda, the ridge of the factors and of their weights, relative to samples of unit norm. "auto" is 0.25, and
        0.25 n_samples / 10,000 for more than 10,000 samples; "auto*4" is four times that. From 3,000 samples on,
        factors are found with sample weights that fall with leverage, so that a factor that a few samples share almost
        perfectly does not come before one that many share well; the weighting is whole from 6,000 on. Weights on the
        features that were selected for a factor use four times this ridge, raised (unless `ridge` is a number) until at
        least 1 / sqrt(n_samples) of a factor stays unexplained, so that few samples are not overfitted; "joint" weights
        use 0.25 sqrt(n_samples) times this ridge, at least this and at most 25 times.
    feature_weights : "shared" or None, default="shared"
        Multiply every feature, before centring and scaling, by how well the other view predicts it: max(R^2, 0.02)^p,
        where R^2 is the share of its variance that ridge regression on the other view predicts for samples left out (of
        at most 500). Words without a counterpart in the other language count less. This helps where samples are few and
        harms where they are many, so that p is 1/4 for up to 100 samples and falls to 25 / n. Features of a view with a
        kernel have no weights.
    n_features : "auto", int, float or None, default="auto"
        Number or share of the features of each view to read. They are chosen for all factors together, in rounds: the
        factors are found, ||W_i|| ||a_i|| with the ridge weights W of all factors says how large a part feature a_i has
        in their scores, and those with the smallest parts are dropped, about 0.4 of them in a round (for one or two
        factors of few samples, what the other view predicts of a feature counts too, and rounds are smaller). The
        others get the weight 0 and are ignored, even for a sample's norm. None: all. "auto": the smallest share, down
        to 0.15 or ten features per pair, that loses nothing measurable on pairs left out: at most one standard error
        with up to three features per pair, growing to two with six or more, in the ranks of mates and in the
        correlation of scores. With "joint" weights the loss is that beside all features alike, as kernel CCA reads
        them; where components select their own features, that beside the best share. Fewer than 60 pairs read more,
        since they show little; with a dense rendering or a kernel, and with fewer than 16 pairs, all features are read.
        `mates_kept_` says what the choice costs.
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
        up to 1,000, 8 folds; with more, 5. With 20,000 pairs or more, one fold is left out, of at most 20,000.
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
        Weights on the features of a view, mostly zeros, or on the samples of a view with a kernel.
    rendering_ : list of str
        "sparse", "joint" or "dense" for each view.
    shown_ : list of sparse array of shape (coordinates, n_components_), or None
        Which features show what each component is about, by view; None where all those with a weight do.
    n_read_ : list of int
        How many features of each view the model reads.
    mates_kept_ : float
        Average precision of finding the mates of pairs left out with the features that are read, relative to that with
        all features alike. The choice of features, the factors and the weights did not see these pairs, and the number
        of features was decided on by others. Only where features were chosen.
    mates_kept_interval_ : ndarray of shape (2,)
        For this ratio, at a level of 0.95.
    reading_path_ : ndarray of shape (shares, 2)
        The shares of the features that were tried, and the average precision with each on pairs left out.
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

    def _given_kernels(self, n_views: int) -> tuple[Any, ...]:
        # a single kernel is that of Y, as in the paper
        return super()._given_kernels(n_views) if isinstance(self.kernel, tuple | list) else ("linear", self.kernel)

    def fit(  # type: ignore[override]
        self, X: MatrixLike, Y: MatrixLike, *, groups: ArrayLike | None = None
    ) -> Self:
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
        return self._fit_pair(X, Y, groups)
