"""What several commands share: loading a model, detecting a language, checking files, formatting components."""

import os
import shlex
from collections.abc import Sequence
from math import inf, isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .._files import check_output
from .._wording import counted
from ._terminal import CallError, Terminal

if TYPE_CHECKING:  # the rest of the package is loaded by the commands that need it
    from ..readers import Piped
    from ..text import BilingualModel, Component

__all__ = [
    "as_penalty",
    "check_kept",
    "check_standard_input",
    "check_two_names",
    "check_written",
    "clipped",
    "component_dict",
    "described",
    "from_pipe",
    "is_same_file",
    "language_of",
    "listed",
    "listed_labels",
    "listed_words",
    "load_bilingual",
    "note_language",
    "note_unknown",
    "summary_of",
    "verdict_of",
]


def load_bilingual(path: Path) -> "BilingualModel":
    from ..persistence import load
    from ..text import BilingualModel

    model = load(path)
    if not isinstance(model, BilingualModel):
        raise ValueError(f"{path} holds a {type(model).__name__}, not a bilingual model; make one with scca fit.")
    return model


def check_written(output: Path, *inputs: Path | None) -> None:
    """Refuse, before any work, an output that cannot be written or would replace an input."""
    check_kept(output, *inputs)
    check_output(output)


def check_kept(output: Path, *inputs: Path | None) -> None:
    """Refuse an output that would replace an input."""
    for given in inputs:
        if given is not None and is_same_file(output, given):
            raise CallError(f"{output} is the input {given}, which would be replaced; name another file with -o.")


def check_two_names(**given: tuple[str, str] | None) -> None:
    """Refuse options whose two names are the same, or empty."""
    for option, names in given.items():
        if names is not None and (names[0] == names[1] or not all(names)):
            raise CallError(f"--{option} must be two different names; got {shlex.join(names)}.")


def is_same_file(one: Path, other: Path) -> bool:
    """Whether two paths are the same file, by symbolic or hard links."""
    if os.path.realpath(one) == os.path.realpath(other):
        return True
    return one.exists() and other.exists() and os.path.samefile(one, other)


def check_standard_input(*inputs: Path | None) -> None:
    if [str(given) for given in inputs].count("-") > 1:
        raise CallError("standard input (-) can be read only once; name a file for the other.")


def from_pipe(given: Path) -> "Path | Piped":
    """A file named on the command line; a pipe or standard input, which can be read only once, is copied."""
    from ..readers import Piped

    return Piped(given) if str(given) == "-" or given.is_fifo() else given


def as_penalty(given: str, option: str) -> str | float:
    """A penalty as a parameter of the library."""
    automatic = given.startswith("auto")
    number = given.replace(" ", "").removeprefix("auto*")
    try:
        value = 1.0 if given == "auto" else float(number)
    except ValueError:
        value = -1.0
    if option == "--gamma" and not automatic:
        fits, bound = value >= 0, "of at least 0"
    else:
        fits, bound = 0 < value < inf, "greater than 0"
    if not fits:
        raise CallError(f'{option} must be "auto", "auto*FACTOR" or a number {bound}; got {shlex.quote(given)}.')
    return given if automatic else value


def listed_words(path: Path) -> list[str]:
    """The words in a file, one per line, without blank lines."""
    from .._checks import DataWarning, silenced
    from ..readers import read_documents

    with silenced(DataWarning):  # of blank lines
        return [word for line in read_documents(from_pipe(path)) if (word := line.strip())]


def listed_labels(path: Path) -> list[str]:
    """The labels in a file, one per line."""
    from .._checks import DataWarning, silenced
    from ..readers import read_documents

    with silenced(DataWarning):  # of blank lines, which are refused here
        labels = [line.strip() for line in read_documents(from_pipe(path))]
    if "" in labels:
        raise ValueError(f"{path}: line {labels.index('') + 1} is empty; give every pair the label of its group.")
    return labels


def language_of(model: "BilingualModel", documents: list[str], given: str | None, terminal: Terminal) -> str:
    if given is not None:
        model.other(given)  # refuses a language that the model does not have
        return given
    source = model.detect_language(documents)
    terminal.note(f"queries taken to be {source}, by their words")
    return source


def note_unknown(terminal: Terminal, one: str, many: str, n_unknown: int, first: int, language: str) -> None:
    if n_unknown == 1:
        terminal.note(f"scca: note: 1 {one} has no known {language} word (line {first + 1}); it ties with everything.")
    elif n_unknown:
        terminal.note(
            f"scca: note: {n_unknown} {many} have no known {language} word (first: line {first + 1}); they tie with "
            "everything."
        )


def note_language(terminal: Terminal, model: "BilingualModel", documents: list[str], language: str) -> None:
    """Note if documents look like the other language."""
    counts = {name: model.vectorize(documents, name).nnz for name in model.languages_}
    if counts[model.other(language)] > 2 * counts[language]:
        terminal.note(f"scca: note: the candidates look like {model.other(language)}, not {language}; check the files.")


def summary_of(model: "BilingualModel") -> dict[str, Any]:
    scca = model.scca_
    return {
        "languages": list(model.languages_),
        "components": scca.n_components_,
        "documents": model.n_documents_,
        "words": [len(vectorizer.words_) for vectorizer in model.vectorizers_],
        "words_used": int(scca.x_weights_.any(axis=1).sum()),
        **_used_of_the_second(model),
        "largest_dual_gap": float(scca.dual_gap_.max()),
    }


def _used_of_the_second(model: "BilingualModel") -> dict[str, Any]:
    """How much of the second language is used: words by shared factors, documents by anchored components."""
    used = int(model.scca_.y_weights_.any(axis=1).sum())
    if model.anchors is None:
        held_out = getattr(model.scca_, "held_out_correlations_", None)
        if held_out is not None and not all(map(isfinite, held_out)):  # too few pairs to leave any out
            held_out = None
        return {
            "documents_used": None,
            "mate_words_used": used,
            "held_out_correlations": None if held_out is None else held_out.tolist(),
            "held_out_intervals": None if held_out is None else _intervals(model),
            "folds": getattr(model.scca_, "n_folds_", None),
            "p_value": None if held_out is None else model.scca_.p_value_,
            "verdict": verdict_of(model),
        }
    return {"documents_used": used}


def _intervals(model: "BilingualModel") -> list[list[float]] | None:
    found = getattr(model.scca_, "held_out_intervals_", None)  # not in files of 0.2.0
    return None if found is None else found.tolist()


def verdict_of(model: "BilingualModel") -> str | None:
    """What the pairs left out say of the model; None if none were left out."""
    return getattr(model.scca_, "verdict_", None)


def described(c: "Component") -> str:
    """The numbers of a component as text."""
    if c.anchor is None:
        held_out = "" if c.held_out_correlation is None else f" ({_held_out(c)} on pairs left out)"
        words = f"{len(c.words)} and {counted(len(c.mate_words), 'word')}"
        return f"correlation {c.correlation:.3f}{held_out}, {words}"
    words, documents = counted(len(c.words), "word"), counted(len(c.documents), "document")
    return f"correlation {c.correlation:.3f}, {words}, {documents}"


def _held_out(c: "Component") -> str:
    between = "" if c.held_out_interval is None else ", {:.2f} to {:.2f},".format(*c.held_out_interval)
    return f"{c.held_out_correlation:.3f}{between}"


def component_dict(c: "Component", top: int) -> dict[str, Any]:
    def weighted(items: Sequence[Any], name: str) -> list[dict[str, Any]]:
        plain = [{name: item.name, "weight": item.weight, "index": item.index} for item in items[:top]]
        if items and items[0].loading is not None:
            return [entry | {"loading": item.loading} for entry, item in zip(plain, items, strict=False)]
        return plain

    return {
        "component": c.number,
        "anchor": c.anchor,
        "correlation": c.correlation,
        "held_out_correlation": c.held_out_correlation,
        "held_out_interval": c.held_out_interval,
        "mu": c.mu,
        "gamma": c.gamma if c.gamma != float("inf") else None,
        "dual_gap": c.dual_gap,
        "words": weighted(c.words, "word"),
        "documents": weighted(c.documents, "document"),
        "mate_words": weighted(c.mate_words, "word"),
    }


def listed(items: Sequence[Any]) -> str:
    """Words with their weights; words that are ordered by loading with both, the loading first."""
    return "  ".join(
        f"{item.name} {item.weight:+.2f}"
        if item.loading is None
        else f"{item.name} {item.loading:+.2f} ({item.weight:+.2f})"
        for item in items
    )


def clipped(text: str, width: int = 70) -> str:
    text = " ".join(text.split())
    return text if len(text) <= width else text[: width - 1] + "…"
