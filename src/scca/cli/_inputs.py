"""What commands are given: model files, other files, penalties, lists of words, and the language of queries."""

import os
import shlex
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING

from .._files import check_output
from ._terminal import CallError, Terminal

if TYPE_CHECKING:  # the rest of the package is loaded by the commands that need it
    from ..readers import Piped
    from ..text import BilingualModel

__all__ = [
    "as_penalty",
    "check_kept",
    "check_standard_input",
    "check_two_names",
    "check_written",
    "from_pipe",
    "is_same_file",
    "language_of",
    "listed_labels",
    "listed_words",
    "load_bilingual",
]


def load_bilingual(path: Path) -> "BilingualModel":
    from ..persistence import load
    from ..text import BilingualModel

    model = load(path)
    if not isinstance(model, BilingualModel):
        raise ValueError(f"{path} holds a {type(model).__name__}, not a bilingual model; make one with scca fit.")
    return model


def check_written(output: Path, *inputs: Path | None) -> None:
    """Refuse, before any work is done, an output that cannot be written or would replace an input."""
    check_kept(output, *inputs)
    check_output(output)


def check_kept(output: Path, *inputs: Path | None) -> None:
    """Refuse an output that would replace an input."""
    for given in inputs:
        if given is not None and is_same_file(output, given):
            raise CallError(f"{output} is the input {given}, which would be replaced; name another file with -o.")


def check_two_names(**given: tuple[str, str] | None) -> None:
    """Refuse an option whose two names are equal, or one of them empty."""
    for option, names in given.items():
        if names is not None and (names[0] == names[1] or not all(names)):
            raise CallError(f"--{option} must be two different names; got {shlex.join(names)}.")


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


def language_of(model: "BilingualModel", documents: list[str], given: str | None, terminal: Terminal) -> str:
    """The language of the queries: as given, or detected from their words."""
    if given is not None:
        model.other(given)  # refuses a language that the model does not have
        return given
    source = model.detect_language(documents)
    terminal.note(f"queries taken to be {source}, by their words")
    return source
