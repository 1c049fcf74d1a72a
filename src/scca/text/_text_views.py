"""Which views of a model are text, and which of their words may be listed."""

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._wording import setting
from ..kinds import TextVectorizer
from ..model import Model

__all__ = ["text_numbers", "text_target", "text_view", "usable_words"]


def text_numbers(model: Model) -> list[int]:
    """The numbers of the views of text; at least two are needed."""
    check_is_fitted(model)
    found = [v for v, kind in enumerate(model.kinds_) if isinstance(kind, TextVectorizer)]
    if len(found) < 2:
        kinds = ", ".join(f"{name} ({kind.kind})" for name, kind in zip(model.view_names_, model.kinds_, strict=True))
        raise ValueError(f"words are linked between two views of text; this model has {kinds}: fit one with two texts.")
    return found


def text_view(model: Model, name: str) -> int:
    """The number of a view of text, given its name."""
    v, texts = model.number_of(name), text_numbers(model)
    if v not in texts:
        names = ", ".join(model.view_names_[u] for u in texts)
        raise ValueError(f"{setting('language')} must be a view of text, {names}; got {name}.")
    return v


def text_target(model: Model, v: int, target: str | None) -> int:
    """The number of the view of text that view `v` is linked to: as given, or the only other one."""
    others = [u for u in text_numbers(model) if u != v]
    if target is None and len(others) == 1:
        return others[0]
    return text_view(model, model.target_of(model.view_names_[v], target))


def usable_words(model: Model, v: int) -> np.ndarray:
    """Which words may be translated and generated: all, unless the user limits their number."""
    asked = getattr(model, "n_words", getattr(model, "n_features", None))
    limited = asked is not None and not isinstance(asked, str)
    weights = getattr(model.preparation_of(v), "feature_weights", None) if limited else None
    return np.ones(len(model.kinds_[v].words_), dtype=bool) if weights is None else weights != 0
