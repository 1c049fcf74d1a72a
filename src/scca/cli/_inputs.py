"""What commands are given: model files, other files, penalties, lists of words, and the language of queries."""

import os
import shlex
from collections.abc import Sequence
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .._files import check_output
from ._terminal import CallError, Terminal

if TYPE_CHECKING:  # the rest of the package is loaded by the commands that need it
    from ..model import Model
    from ..readers import Piped
    from ..results import Result

__all__ = [
    "as_penalty",
    "check_kept",
    "check_standard_input",
    "check_names",
    "check_written",
    "from_pipe",
    "is_same_file",
    "listed_labels",
    "listed_words",
    "load_model",
    "load_result",
    "view_of",
]


def load_model(path: Path) -> "Model":
    """A model of named views, which reads new samples as they are in files."""
    from ..model import Model
    from ..persistence import load

    model = load(path)
    if not isinstance(model, Model):
        raise ValueError(f"{path} holds a {type(model).__name__}, which reads matrices; use it in Python.")
    return model


def load_result(path: Path, *, top: int | None = None, named_samples: bool = True) -> "Result":
    """What a model file holds, whatever made it, or a file that `scca result` wrote."""
    from ..persistence import load
    from ..results import Result

    if path.suffix.lower() == ".json":
        result = Result.from_json(path.read_text(encoding="utf-8")).shortened(top)
    else:
        result = load(path).result(top)
    return result if named_samples else result.without_names()


def check_written(output: Path, *inputs: Path | None) -> None:
    """Refuse, before any work is done, an output that cannot be written or would replace an input."""
    check_kept(output, *inputs)
    check_output(output)


def check_kept(output: Path, *inputs: Path | None) -> None:
    """Refuse an output that would replace an input."""
    for given in inputs:
        if given is not None and is_same_file(output, given):
            raise CallError(f"{output} is the input {given}, which would be replaced; name another file with -o.")


def check_names(**given: Sequence[str] | None) -> None:
    """Refuse an option with fewer than two names, equal names or an empty one."""
    for option, names in given.items():
        if names and (len(names) < 2 or len(set(names)) < len(names) or not all(names)):
            count = "two" if len(names) <= 2 else f"{len(names)}"
            raise CallError(f"--{option} must be {count} different names; got {shlex.join(names)}.")


def is_same_file(one: Path, other: Path) -> bool:
    """Whether two paths lead to the same file, also through symbolic or hard links."""
    if os.path.realpath(one) == os.path.realpath(other):
        return True
    return one.exists() and other.exists() and os.path.samefile(one, other)


def check_standard_input(*inputs: Path | None) -> None:
    """Refuse standard input as more than one of the inputs."""
    if [str(given) for given in inputs].count("-") > 1:
        raise CallError("standard input (-) can be read only once; name a file for the other.")


def from_pipe(given: Path) -> "Path | Piped":
    """A file named on the command line; a pipe or standard input is copied, because it can be read only once."""
    from ..readers import Piped

    return Piped(given) if str(given) == "-" or given.is_fifo() else given


def as_penalty(given: str, option: str) -> str | float:
    """The penalty that an option gives, as the library takes it."""
    automatic = given.startswith("auto")
    number = given.replace(" ", "").removeprefix("auto*")
    try:
        value = 1.0 if given == "auto" else float(number)
    except ValueError:
        value = -1.0
    if option == "--gamma" and not automatic:
        is_valid, bound = value >= 0, "of at least 0"
    else:
        is_valid, bound = 0 < value < inf, "greater than 0"
    if not is_valid:
        raise CallError(f'{option} must be "auto", "auto*FACTOR" or a number {bound}; got {shlex.quote(given)}.')
    return given if automatic else value


def listed_words(path: Path) -> list[str]:
    """The words in a file, one per line; blank lines are left out."""
    return [word for word in _stripped_lines(path) if word]


def listed_labels(path: Path) -> list[str]:
    """The labels in a file, one per line."""
    labels = _stripped_lines(path)
    if "" in labels:
        raise ValueError(f"{path}: line {labels.index('') + 1} is empty; give every pair the label of its group.")
    return labels


def _stripped_lines(path: Path) -> list[str]:
    from .._checks import DataWarning, silenced
    from ..readers import read_documents

    with silenced(DataWarning):  # the reader warns of blank lines
        return [line.strip() for line in read_documents(from_pipe(path))]


def view_of(model: "Model", samples: Any, given: str | None, terminal: Terminal) -> str:
    """The view of the queries: as given, or detected from their words."""
    if given is not None:
        model.number_of(given)  # refuses a view that the model does not have
        return given
    source = model.detect_view(samples)
    terminal.note(f"queries taken to be {source}, by their words")
    return source
