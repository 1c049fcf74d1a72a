"""Settings in the spelling of the scca that is imported: before `AnchoredCCA` and `Kernel`, or since.

Each name is looked for by itself, so that a version that has only some of them can be compared too.
"""

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

import scca
from scca.text import BilingualModel

__all__ = ["Kernel", "anchored", "anchored_cv", "bilingual", "generator", "kernel_cca", "sparse_cca"]

_ANCHORED = hasattr(scca, "AnchoredCCA")
_KERNEL_OBJECTS = hasattr(scca, "Kernel")
_OLD_PAPER = {
    "representation": "primal-dual",
    "feature_weights": None,
    "center": True,
    "scale": "rows",
    "held_out": 0,
    "n_features": None,
    "random_state": 0,  # not used; without it, tests would draw one, and other orders after it
}
_REPRESENTATIONS = {"Y": "primal-dual", "X": "dual-primal", "XY": "dual-dual"}


@dataclass(frozen=True)
class Kernel:
    """A kernel with its parameters; of low rank if `rank` is given."""

    function: str | Callable[..., float]
    params: dict[str, float] = field(default_factory=dict)
    rank: int | None = None
    method: str = "cholesky"

    def of_dual_views(self) -> dict[str, Any]:
        """Keywords for an estimator that has this kernel wherever samples have weights."""
        if _KERNEL_OBJECTS:
            return {"kernel": self._as_object()}
        return {"kernel": self._approximated(self.function), "kernel_params": self.params or None}

    def of(self, views: str) -> dict[str, Any]:
        """Keywords of `SparseCCA` with this kernel for `views`: "X", "Y" or "XY"."""
        if "representation" in scca.SparseCCA().get_params():
            return self.of_dual_views() | {"representation": _REPRESENTATIONS[views]}
        made = self._as_object()
        return {"kernel": made if views == "Y" else tuple(made if name in views else "linear" for name in "XY")}

    def _as_object(self) -> Any:
        return self._approximated(scca.Kernel(self.function, **self.params) if self.params else self.function)

    def _approximated(self, kernel: Any) -> Any:
        return kernel if self.rank is None else scca.LowRankKernel(kernel, rank=self.rank, method=self.method)


def sparse_cca(n_components: int | str, kernel: Kernel | None = None, views: str = "Y", **settings: Any) -> Any:
    """Shared factors, with `kernel` for `views` if it is given."""
    if kernel is not None:
        settings |= kernel.of(views)
    return scca.SparseCCA(n_components, **settings)


def kernel_cca(n_components: int, kernel: Kernel | None = None, **settings: Any) -> Any:
    return scca.KernelCCA(n_components, **({} if kernel is None else kernel.of_dual_views()), **settings)


def anchored(n_components: int, **settings: Any) -> Any:
    """The paper's method, but for `settings`; a kernel is that of the views with weights on samples."""
    settings = _with_kernel(settings)
    if _ANCHORED:
        return scca.AnchoredCCA(n_components, **settings)
    return scca.SparseCCA(n_components, **_OLD_PAPER | {"anchors": "sequential"} | settings)


def anchored_cv(n_components: int, **settings: Any) -> Any:
    """The paper's method, but for `settings`, with the penalties chosen by cross-validation."""
    settings = _with_kernel(settings)
    if _ANCHORED:
        return scca.AnchoredCCACV(n_components, **settings)
    return scca.SparseCCACV(n_components, **_OLD_PAPER | {"anchors": "sequential"} | settings)


def _with_kernel(settings: dict[str, Any]) -> dict[str, Any]:
    kernel = settings.pop("kernel", None)
    return settings if kernel is None else settings | kernel.of_dual_views()


def bilingual(n_components: int | str = "auto", *, paper: bool = False, **settings: Any) -> BilingualModel:
    if paper and "paper" in inspect.signature(BilingualModel).parameters:
        settings["paper"] = True
    elif paper:
        settings |= {"anchors": "sequential", "feature_weights": None}
    return BilingualModel(n_components, **settings)


def generator(*arguments: Any, **settings: Any) -> Any:
    """A `Generator`, from the module that has it."""
    home = import_module("scca.anchored" if hasattr(scca, "anchored") else "scca.generation")
    return home.Generator(*arguments, **settings)
