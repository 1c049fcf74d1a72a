"""The views that `scca fit` learns from: files of any kinds, their names, and the model that suits them."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .._wording import ordinal
from ..kinds import TextVectorizer, kind_named
from ..model import Model
from ..readers import Piped, default_language
from ..text import BilingualModel
from ._cluster import texts_for
from ._terminal import CallError

if TYPE_CHECKING:
    from ..readers import RemoteTexts, TextViews

__all__ = ["ViewFiles", "model_of"]

_USUAL_TEXT = {"lowercase": True, "stop_words": None, "min_df": None, "ngram_range": (1, 1), "analyzer": "word"}
_TEXT_OPTIONS = {
    "lowercase": "--case",
    "stop_words": "--stop-words",
    "min_df": "--min-df",
    "ngram_range": "--ngrams",
    "analyzer": "--characters",
}


@dataclass(frozen=True)
class ViewFiles:
    """Files with the views of the same samples: one for each view, or one table of texts with all.

    Attributes
    ----------
    files : list of Path or Piped
    kinds : list of str
        What each file holds.
    names : list of str or None
        As asked for.
    columns : list of str or None
    drop_empty : bool
    """

    files: list[Path | Piped]
    kinds: list[str]
    names: Sequence[str] | None
    columns: Sequence[str] | None
    drop_empty: bool

    @classmethod
    def of(
        cls,
        files: list[Path | Piped],
        kinds: Sequence[str] | None,
        names: Sequence[str] | None,
        columns: Sequence[str] | None,
        drop_empty: bool,
    ) -> "ViewFiles":
        """The files of a command, checked as far as they need not be read."""
        asked = list(kinds or ["text"])
        for kind in asked:
            kind_named(kind)  # refuses an unknown one
        if len(asked) not in (1, len(files)):
            raise CallError(
                f"--kind must be one kind for all files, or {len(files)}, one for each file; got {len(asked)}: name "
                "as many kinds as files."
            )
        given = cls(files, asked * len(files) if len(asked) == 1 else asked, names, columns, drop_empty)
        if not given.are_texts:
            given._check_other_kinds()
        return given

    @property
    def are_texts(self) -> bool:
        return set(self.kinds) == {"text"}

    @property
    def n_views(self) -> int:
        """The number of views, as far as the call says it."""
        return len(self.files) if len(self.files) > 1 else len(self.names or self.columns or ("first", "second"))

    def _check_other_kinds(self) -> None:
        if len(self.files) < 2:
            raise CallError(f"--kind {self.kinds[0]} needs a file for each view; got 1: name two or more.")
        if self.columns or self.drop_empty:
            option = "--columns" if self.columns else "--drop-empty"
            raise CallError(f"{option} is for texts; leave it out, or --kind.")
        if self.names and len(self.names) != len(self.files):
            raise CallError(f"--names must be {len(self.files)} names, one for each file; got {len(self.names)}.")

    def refuse_numbers(self, components: int | None, output: Path) -> None:
        """Refuse tables of numbers that nobody named so."""
        from ._refusing import refuse_numbers

        if self.are_texts:
            refuse_numbers(self.files, self.columns or self.names, components, output)

    def read(self, client: Any) -> "TextViews | RemoteTexts | dict[str, Any]":
        """The views, for `fit`: texts are streamed, or read by the workers of a cluster; other kinds read files."""
        if self.are_texts:
            return texts_for(client, self.files, languages=self.names, columns=self.columns, drop_empty=self.drop_empty)
        return {
            name: kind_named(kind).read(file if isinstance(file, Path) else Path(file.copy))
            for name, kind, file in zip(self.view_names(), self.kinds, self.files, strict=True)
        }

    def view_names(self) -> list[str]:
        """The names of views of several kinds."""
        return list(self.names or _default_names(self.files, self.kinds))


def model_of(
    given: ViewFiles,
    *,
    rendering: str,
    keep_samples: bool,
    n_features: Any,
    text: dict[str, Any],
    paper: dict[str, Any] | None,
    **settings: Any,
) -> Model:
    """An unfitted model of these views.

    `rendering` is that of all views whose features can be chosen; `text` are the parameters of texts, and `paper` those
    of the paper's method, None for shared factors.
    """
    text = {name: value for name, value in text.items() if value != _USUAL_TEXT[name]}
    if given.are_texts and given.n_views == 2:
        return BilingualModel(
            **text,
            **settings,
            rendering=rendering,
            n_words=n_features,
            keep_texts=keep_samples,
            **({} if paper is None else {**paper, "anchors": "sequential", "feature_weights": None}),
        )
    if paper is not None:
        got = f"{given.n_views} views" if given.are_texts else f"the kinds {', '.join(given.kinds)}"
        raise CallError(f"--paper is for two languages; got {got}: leave out --paper, or name two texts.")
    if "text" not in given.kinds and text:
        raise CallError(f"{_TEXT_OPTIONS[next(iter(text))]} is for texts, and no file has them; leave it out.")
    vectorizer = TextVectorizer.usual().set_params(**text) if text else "text"
    kinds: Any = vectorizer
    renderings: str | list[str] = rendering
    if not given.are_texts:
        named = zip(given.view_names(), given.kinds, strict=True)
        kinds = {name: vectorizer if kind == "text" else kind for name, kind in named}
        if rendering == "sparse":  # single dimensions of vectors mean nothing, so that none can be chosen
            renderings = ["dense" if kind_named(kind).dense else rendering for kind in given.kinds]
    return Model(
        kinds=kinds,
        rendering=renderings,
        n_features=n_features,
        keep_samples=keep_samples,
        **settings,
    )


def _default_names(files: Sequence[Path | Piped], kinds: Sequence[str]) -> list[str]:
    """The suffixes of files of text, and the names of others without their suffixes; numbers if two are the same."""
    names = []
    for file, kind in zip(files, kinds, strict=True):
        path = Path(str(file))
        label = default_language(path) if kind == "text" else None
        names.append(label or path.name.partition(".")[0])
    if all(names) and len(set(names)) == len(names):
        return names
    return [ordinal(i + 1) for i in range(len(files))]
