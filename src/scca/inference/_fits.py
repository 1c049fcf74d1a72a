"""One model, fitted to many subsets and permutations of the same pairs."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone

from .._checks import NothingSharedError
from .._types import MatrixLike
from ..estimators import AnchoredCCA, KernelCCA, PairedTransformer, SparseCCA
from ..samples import Groups, Views

__all__ = ["DATA_SETS", "Fits"]

_FITTED_TO_VIEWS = (SparseCCA, AnchoredCCA, KernelCCA)  # other estimators may do more in `fit` than in `fit_views`

DATA_SETS = "permuted or subsampled data sets"  # the name, in warnings, of the data that a model is fitted to


@dataclass(frozen=True)
class Fits:
    """A model and the samples to whose subsets it is fitted.

    Attributes
    ----------
    model : PairedTransformer
        An unfitted copy of the user's model.
    views : Views
    n_components : int
        Number of components in a fit to all pairs.
    dual_views : tuple of "X" and "Y"
        The views whose weights are on samples.
    x_names, y_names : ndarray of str or None
    """

    model: PairedTransformer
    views: Views
    n_components: int
    dual_views: tuple[str, ...]
    x_names: np.ndarray | None
    y_names: np.ndarray | None

    @classmethod
    def of(
        cls,
        model: Any,
        X: MatrixLike,
        Y: MatrixLike,
        rng: np.random.RandomState,
        *,
        leaves_samples_out: bool,
        groups: ArrayLike | None = None,
    ) -> "Fits":
        """Fit to all pairs first, so that invalid data or settings raise the estimator's own errors."""
        if not isinstance(model, PairedTransformer):
            raise TypeError(f"model must be an estimator of two views such as scca.SparseCCA(2); got {model!r}.")
        model = clone(model)
        if model.get_params().get("random_state", 0) is None:
            model.set_params(random_state=rng.randint(2**31 - 1))  # otherwise each worker would draw its own seed
        if "held_out" in model.get_params():
            model.set_params(held_out=0)  # held-out correlations of these many fits are not used
        whole = clone(model).fit(X, Y, **_groups_for(model, groups))
        if model.n_components == "auto":
            model.set_params(n_components=whole.n_components_)  # the same number for all fits
        if "scale" in model.get_params():
            model.set_params(scale=(whole.x_scale_, whole.y_scale_))  # the same scaling for all fits
        if leaves_samples_out and whole._dual_views and not isinstance(getattr(model, "anchors", ""), str):
            raise ValueError(
                "anchors must be the name of a strategy if samples are left out, since indices would then mean other "
                f"samples; got {model.anchors!r}."
            )
        checked = whole._check_view(X, "X"), whole._check_view(Y, "Y")
        kernels = whole._is_precomputed(0, 2), whole._is_precomputed(1, 2)
        return cls(
            model=model,
            views=Views(checked, Groups.of(groups, checked[0].shape[0]), precomputed=kernels),
            n_components=whole.n_components_,
            dual_views=whole._dual_views,
            x_names=getattr(whole, "feature_names_in_", None),
            y_names=getattr(whole, "feature_names_y_", None),
        )

    def in_order(self, order: np.ndarray) -> "Fits":
        """The same fits with sample i of X paired with sample order[i] of Y."""
        return replace(self, views=self.views.permuted(None, order))

    def first_view(self, rows: np.ndarray) -> Any:
        """X of the samples `rows` as the model prepares it, whatever the order of Y; None if `fit` prepares it."""
        return self.model.first_view(self.views.rows(rows)) if type(self.model) in _FITTED_TO_VIEWS else None

    def fitted(self, rows: np.ndarray, first_view: Any = None) -> PairedTransformer | None:
        """The model fitted to the samples `rows`; None if they share nothing. `first_view` saves preparing X."""
        model, views = clone(self.model), self.views.rows(rows)
        try:
            if type(model) not in _FITTED_TO_VIEWS:
                return model.fit(*views.data, **_groups_for(model, views.groups.labels))
            return model.fit_views(views, first_view)
        except NothingSharedError:
            return None
        except ValueError as error:
            raise ValueError(f"the fit to {len(rows)} of the {len(self.views)} pairs failed: {error}") from error


def _groups_for(model: PairedTransformer, labels: Any) -> dict[str, Any]:
    """The groups as an argument of `fit`, for models that leave pairs out."""
    return {"groups": labels} if labels is not None and isinstance(model, SparseCCA) else {}
