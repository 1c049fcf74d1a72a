"""Settings of a run; equal settings on equal corpora give identical files."""

from dataclasses import asdict, dataclass, replace
from typing import Any

from .._checks import check_count
from .._wording import setting
from ._corpus import FREQUENCIES

__all__ = ["Settings", "Size", "parse_size"]


@dataclass(frozen=True, order=True)
class Size:
    """Numbers of training and test documents."""

    train: int
    test: int

    def __str__(self) -> str:
        return f"{self.train}/{self.test}"

    def within(self, n: int) -> "Size":
        """This size, or the nearest one possible with `n` documents."""
        train = min(self.train, n // 2)
        return Size(train, min(self.test, n - train))


@dataclass(frozen=True)
class Settings:
    """How the experiments are run; the defaults are the paper's.

    Attributes
    ----------
    seed : int
        Seed of the random splits.
    splits : int
        How many random splits into training and test documents.
    frequencies : {"training", "corpus"}
        The documents that words and document frequencies come from; the paper seems to take the whole corpus.
    query : int
        The document of Figure 1, counted from 0.
    n_penalties : int
        How many values of mu Figure 1 has, evenly spaced up to 1.
    left_out : int or None
        How many documents are left out in turn for Table 1; None for all.
    varied : int
        How many documents are left out in turn for each variation of Table 1.
    regularizations : tuple of float
        Candidates for kernel CCA's regularisation.
    folds : int
        How many folds of the training documents the regularisation is chosen by.
    projections : tuple of int
        The numbers of projections for which shared factors are fitted, besides as many as there can be.
    sizes : tuple of Size
        Sizes in addition to the paper's.
    """

    seed: int = 0
    splits: int = 10
    frequencies: str = "training"
    query: int = 0
    n_penalties: int = 1000
    left_out: int | None = None
    varied: int = 60
    regularizations: tuple[float, ...] = (0.001, 0.003, 0.01, 0.03, 0.1, 0.2, 0.4, 0.7, 1.0)
    folds: int = 5
    projections: tuple[int, ...] = (5, 10, 20, 50)
    sizes: tuple[Size, ...] = ()

    def __post_init__(self) -> None:
        for name in ("splits", "n_penalties", "varied"):
            check_count(getattr(self, name), name)
        for number in self.projections:
            check_count(number, "projections")
        if self.frequencies not in FREQUENCIES:
            raise ValueError(f"{setting('frequencies')} must be 'training' or 'corpus'; got {self.frequencies!r}.")

    def quick(self) -> "Settings":
        """A small version that shows the same things with more noise."""
        return replace(
            self,
            splits=min(2, self.splits),
            n_penalties=100,
            left_out=40,
            varied=10,
            regularizations=(0.03, 0.2, 1.0),
            projections=(5, 10, 20),
        )

    def as_dict(self) -> dict[str, Any]:
        """The settings as plain values for JSON."""
        return asdict(self) | {"sizes": [str(size) for size in self.sizes]}


def parse_size(text: str) -> Size:
    """The size that a text gives: `50/250` is 50 training and 250 test documents."""
    try:
        train, test = (int(part) for part in text.split("/"))
    except ValueError:
        raise ValueError(f"a size must be TRAIN/TEST, such as 50/250; got {text!r}.") from None
    if train < 4 or test < 2:
        raise ValueError(f"a size needs at least 4 training and 2 test documents; got {text!r}.")
    return Size(train, test)
