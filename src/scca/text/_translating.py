"""Translation of words by a model of text: of given words, or of all words as a word list."""

import difflib
from collections.abc import Callable
from numbers import Real
from typing import Any, overload
from weakref import WeakKeyDictionary

import numpy as np
import scipy.sparse as sp

from .._checks import check_count, shown
from .._wording import setting
from ..model import Model
from ..parallel import Progress
from ._lexicon import Lexicographer
from ._results import Translation, WordPair
from ._text_views import text_numbers, text_target, text_view, usable_words

__all__ = ["UnknownWordError", "Words", "lexicon", "linked_languages", "translate"]

Words = list[str] | tuple[str, ...] | np.ndarray

# the lexicographers of each model by the numbers of both views, with the training documents they were made from; not
# part of model files and copies
_LEXICOGRAPHERS: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()


class UnknownWordError(ValueError):
    """A word that the model does not know, or that several languages have."""


@overload
def translate(model: Model, word: str, *, source: str | None = None, target: str | None = None) -> Translation: ...


@overload
def translate(
    model: Model, word: Words, *, source: str | None = None, target: str | None = None
) -> list[Translation]: ...


def translate(
    model: Model, word: str | Words, *, source: str | None = None, target: str | None = None
) -> Translation | list[Translation]:
    """Translations of a word, or of each word of a list, by links between all words of the training documents.

    Parameters
    ----------
    model : Model
        With at least two views of text.
    word : str or list of str
        A single unknown word is refused; in a list it gives a result with `known=False`.
    source, target : str, optional
        The languages of the words and of their translations; by default the one that has the word, and the only other
        one.

    Returns
    -------
    Translation or list of Translation
    """
    texts = text_numbers(model)
    if source is not None:
        text_view(model, source)  # refuses an unknown language once for all words
    if target is not None:
        text_view(model, target)
    elif len(texts) > 2:
        names = ", ".join(model.view_names_[v] for v in texts)
        raise ValueError(f"{setting('target')} must be one of {names}; name the language of the translations.")
    if isinstance(word, str):
        return _translate(model, word, source, target)
    found = []
    for one in word:
        try:
            found.append(_translate(model, one, source, target))
        except UnknownWordError as error:
            found.append(Translation(one, known=False, note=str(error)))
    return found


def lexicon(
    model: Model,
    *,
    source: str | None = None,
    target: str | None = None,
    least: int = 2,
    trust: float = 0.0,
    top: int = 5,
    progress: Callable[[int, int], None] | None = None,
) -> list[WordPair]:
    """A word list: the mate of each word of a language in another, most trusted first, then most frequent.

    Parameters
    ----------
    model : Model
        With at least two views of text.
    source, target : str, optional
        The language whose words are listed, and that of their mates; by default the first, and the only other one.
    least : int, default=2
        Words in fewer training documents are left out.
    trust : float, default=0.0
        Entries with less trust, the estimated probability of being right, are left out.
    top : int, default=5
        Maximum number of mates per word, the best included.
    progress : callable, optional
        Called with the number of steps done and the total.

    Returns
    -------
    list of WordPair
    """
    v, u = (model.number_of(language) for language in linked_languages(model, source, target))
    least, top = check_count(least, "least"), check_count(top, "top")
    if not isinstance(trust, Real) or not 0 <= trust <= 1:
        raise ValueError(f"trust must be a number from 0 to 1; got {shown(trust)}.")
    lexicographer, side = _lexicographer(model, v, u, progress)
    entries = lexicographer.entries(side, top)
    kept = [entry for entry in entries if entry.documents >= least and entry.trust >= trust]
    return sorted(kept, key=lambda entry: (-entry.trust, -entry.documents, entry.word))


def linked_languages(model: Model, source: str | None = None, target: str | None = None) -> tuple[str, str]:
    """The languages of a word list: those given, or the first one and the only other one."""
    v = text_numbers(model)[0] if source is None else text_view(model, source)
    return model.view_names_[v], model.view_names_[text_target(model, v, target)]


def _lexicographer(model: Model, v: int, u: int, progress: Progress | None = None) -> tuple[Lexicographer, int]:
    """The links between all words of two views, computed once per fit, and which side of them view v is."""
    pair = min(v, u), max(v, u)
    training, made = _LEXICOGRAPHERS.get(model, (None, {}))
    if training is not model.training_:
        made = {}
        _LEXICOGRAPHERS[model] = (model.training_, made)
    if pair not in made:
        views = [model.training_[w] @ sp.diags_array(usable_words(model, w).astype(float)) for w in pair]
        made[pair] = Lexicographer(views, [model.kinds_[w].words_ for w in pair], progress)
    return made[pair], pair.index(v)


def _translate(model: Model, word: str, source: str | None, target: str | None) -> Translation:
    v, position = _position(model, word, source, target)
    u = text_target(model, v, target)
    languages = model.view_names_[v], model.view_names_[u]
    spelt = str(model.kinds_[v].words_[position])
    documents = int(np.count_nonzero(model.training_[v][:, [position]].toarray()))
    lexicographer, side = _lexicographer(model, v, u)
    entry = lexicographer.entry(side, position)
    if entry is None:  # the mates of its documents have no word
        return Translation(spelt, *languages, documents=documents)
    return Translation(spelt, *languages, entry.mates, documents, entry.trust)


def _position(model: Model, word: str, source: str | None, target: str | None) -> tuple[int, int]:
    """The view and the column of a word, which is not of the language that it is translated to."""
    if not isinstance(word, str):
        raise ValueError(f"a word to translate must be a string; got {shown(word)}.")
    if source is not None:
        views = [text_view(model, source)]
    else:
        views = [v for v in text_numbers(model) if model.view_names_[v] != target]
    usable = {v: usable_words(model, v) for v in views}
    columns = {v: model.kinds_[v].position(word) for v in views}
    found = {v: column for v, column in columns.items() if column is not None and usable[v][column]}
    if len(found) == 1:
        return next(iter(found.items()))
    if found:
        names = [model.view_names_[v] for v in found]
        raise UnknownWordError(
            f"{shown(word)} is a word of both {' and '.join(names)}; name its language with {setting('source')}."
        )
    known = [str(name) for v in views for name in model.kinds_[v].words_[usable[v]]]
    close = difflib.get_close_matches(word.lower(), known, n=3)
    hint = f"did you mean {', '.join(close)}?" if close else "try another word."
    raise UnknownWordError(f"{shown(word)} is none of the {len(known)} words the model knows; {hint}")
