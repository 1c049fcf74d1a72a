"""What a view is made of: the contract of kinds, and the registry of those there are."""

from abc import abstractmethod
from pathlib import Path
from typing import Any, ClassVar, Self, TypeVar

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin, clone

from .._checks import shown
from .._wording import setting

__all__ = ["Kind", "kind_named", "kind_of", "register", "registered"]


# matrices of a kind may be sparse, which cannot become frames, so `set_output` is off; mypy does not know the keyword
class Kind(TransformerMixin, BaseEstimator, auto_wrap_output_keys=None):  # type: ignore[call-arg]
    """What the samples of a view are: a scikit-learn transformer of them to a matrix, and the words to speak of them.

    A new kind is a subclass in a file of its own and one line, `register(NewKind)`. All its attributes must be numbers,
    texts, arrays, sparse matrices, and lists, tuples and dictionaries of these: model files store them. From then on
    models, model files, results, pages and the command line (`--kind`) know it by its name.

    Attributes
    ----------
    kind : str
        The name of the kind.
    view : str
        What a view is called: "language".
    unit, units : str
        What a feature is called: "word", "words".
    sample, samples : str
        What a sample is called: "document", "documents".
    scale : {"auto", "columns", "rows", "both"} or None
        How the matrix is scaled, as `scale` of `SparseCCA`.
    dense : bool
        Whether single features mean nothing, as those of an encoder's vectors, so that all of them get weights.
    zeros_say_nothing : bool
        Whether a sample without any feature that the model reads is unknown, as a document without a known word. In
        a table, zeros are values.
    """

    kind: ClassVar[str]
    view: ClassVar[str] = "view"
    unit: ClassVar[str] = "feature"
    units: ClassVar[str] = "features"
    sample: ClassVar[str] = "sample"
    samples: ClassVar[str] = "samples"
    scale: ClassVar[Any] = "auto"
    dense: ClassVar[bool] = False
    zeros_say_nothing: ClassVar[bool] = False

    def __init_subclass__(cls, **settings: Any) -> None:
        super().__init_subclass__(auto_wrap_output_keys=None, **settings)  # for each subclass anew

    @classmethod
    def suits(cls, samples: Any) -> bool:
        """Whether samples of no named kind are taken as this one."""
        return False

    @classmethod
    def usual(cls) -> Self:
        """The kind with the parameters that models give it, if nobody chose others."""
        return cls()

    @abstractmethod
    def fit_transform(self, samples: Any, y: Any = None) -> Any:
        """Learn the features; the matrix of the samples, dense or sparse, with a row for each."""

    @abstractmethod
    def transform(self, samples: Any) -> Any:
        """The matrix of new samples over the learnt features."""

    @property
    @abstractmethod
    def feature_names_(self) -> np.ndarray:
        """The name of each column of the matrix, as it is shown."""

    def fit(self, samples: Any, y: Any = None) -> "Kind":
        """Learn the features."""
        self.fit_transform(samples)
        return self

    def drawing(self, feature: int) -> str | None:
        """A feature, given its column, as SVG for pages; None if its name says all."""
        return None

    def labels(self, samples: Any) -> list[str] | None:
        """How each sample is shown: its text, or the label of its row; None if it has only its number."""
        return None

    def read(self, path: Path) -> Any:
        """The samples in a file."""
        raise ValueError(f"samples of the kind {self.kind!r} cannot be read from a file; pass them in Python.")

    def check_loaded(self, n_features: int) -> None:
        """Raise ValueError if what a model file holds of this kind does not fit together."""
        names = self.feature_names_
        if len(names) != n_features or not all(isinstance(name, str) for name in names):
            raise ValueError(f"the names of the features are not {n_features} texts")


_KINDS: dict[str, type[Kind]] = {}
_Registered = TypeVar("_Registered", bound=type[Kind])


def register(kind: _Registered) -> _Registered:
    """Add a kind, so that models, model files and the command line know it by its name; also as a decorator."""
    if not (isinstance(kind, type) and issubclass(kind, Kind) and isinstance(getattr(kind, "kind", None), str)):
        raise TypeError(f"a kind must be a subclass of scca.kinds.Kind with a name; got {shown(kind)}.")
    _KINDS[kind.kind] = kind
    return kind


def registered() -> dict[str, type[Kind]]:
    """All kinds by name."""
    return dict(_KINDS)


def kind_named(given: Any) -> Kind:
    """An unfitted kind, given its name or an example of it."""
    if isinstance(given, Kind):
        return clone(given)
    if isinstance(given, str) and given in _KINDS:
        return _KINDS[given].usual()
    raise ValueError(
        f"{setting('kinds')} must be one of {', '.join(sorted(_KINDS))}; got {shown(given)}: name one of them, or "
        "register it first."
    )


def kind_of(samples: Any, name: str) -> Kind:
    """The kind that suits the samples of the view of this name."""
    for kind in _KINDS.values():
        if kind.suits(samples):
            return kind.usual()
    raise ValueError(
        f"{name} is a {type(samples).__name__}, which no kind of view takes as it is; pass a list of texts, a data "
        f"frame or an array, or name its kind: {', '.join(_KINDS)}."
    )
