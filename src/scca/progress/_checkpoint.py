"""Checkpoints: results of the steps of a long computation, so that it can continue where it was stopped."""

import json
import os
import zipfile
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from .._checks import warn
from .._files import atomic_write

__all__ = ["Checkpoint", "CheckpointError", "CheckpointWarning", "has_steps", "text_array", "texts_of"]

_INDEX, _SUFFIX = "checkpoint.json", ".npz"


class CheckpointError(ValueError):
    """The folder has the checkpoint of another computation, or something else."""


class CheckpointWarning(UserWarning):
    """A checkpoint cannot be written; the computation goes on without it."""


class Checkpoint:
    """A folder with the results of steps, one file each, which appear complete or not at all.

    Parameters
    ----------
    folder : path
        Created with the first result that is stored.
    description : mapping of str to plain values
        What is computed: the data, the settings, the versions of the software. A folder with another description is
        refused.
    """

    def __init__(self, folder: str | os.PathLike[str], description: Mapping[str, Any]):
        self.folder = Path(folder)
        self._description = json.loads(json.dumps(description))
        self._writes = True
        self._asked: Counter[str] = Counter()
        if self.folder.exists():
            self._check()

    @property
    def exists(self) -> bool:
        return (self.folder / _INDEX).is_file()

    def _check(self) -> None:
        try:
            with open(self.folder / _INDEX, encoding="utf-8") as file:
                found = dict(json.load(file))
        except FileNotFoundError:
            if self.folder.is_dir() and not any(self.folder.iterdir()):
                return
            raise CheckpointError(f"{self.folder} is not a checkpoint of scca; move it away.") from None
        except (OSError, ValueError, TypeError) as error:
            raise CheckpointError(f"{self.folder} cannot be read as a checkpoint; delete it.") from error
        other = [name for name in self._description if found.get(name) != self._description[name]]
        if other:
            what = " and ".join([", ".join(other[:-1]), other[-1]] if len(other) > 1 else other)
            raise CheckpointError(
                f"{self.folder} has the beginning of a fit with other {what}: repeat that command to finish it, or "
                "delete the folder to start afresh."
            )

    def named(self, step: str) -> str:
        """A unique name for a step in this run: steps of the same name are numbered."""
        self._asked[step] += 1
        return step if self._asked[step] == 1 else f"{step} {self._asked[step]}"

    def read(self, name: str) -> dict[str, np.ndarray] | None:
        """The arrays of a step; None if they are missing or damaged."""
        try:
            with np.load(self._file(name), allow_pickle=False) as stored:
                return {key: stored[key] for key in stored.files}
        except (OSError, EOFError, ValueError, KeyError, zipfile.BadZipFile):
            return None

    def write(self, name: str, arrays: Mapping[str, np.ndarray]) -> None:
        """Store the arrays of a step; they replace the arrays of the smaller steps that it consists of."""
        if not self._writes:
            return
        try:
            self.folder.mkdir(exist_ok=True)
            if not self.exists:
                with atomic_write(self.folder / _INDEX) as file:
                    file.write(json.dumps(self._description, indent=1).encode())
            with atomic_write(self._file(name)) as file:
                np.savez(file, **arrays)  # type: ignore[arg-type]
            for part in self.folder.glob(f"{_escaped(name)}..*{_SUFFIX}"):
                part.unlink()
        except OSError as error:
            self._writes = False
            warn(
                f"no further checkpoint is written to {self.folder} ({error}); if stopped, the fit has to start from "
                "the last one.",
                CheckpointWarning,
            )

    def remove(self) -> None:
        """Delete the folder, once the result is stored."""
        if not self.exists:
            return
        for file in self.folder.glob(f"*{_SUFFIX}"):
            file.unlink()
        (self.folder / _INDEX).unlink()
        for draft in self.folder.glob(".*.part"):
            draft.unlink()
        self.folder.rmdir()

    def _file(self, name: str) -> Path:
        return self.folder / f"{_escaped(name)}{_SUFFIX}"


def _escaped(name: str) -> str:
    """A file name for a step; the names of the smaller steps that it consists of begin with it."""
    return name.replace("/", "..").replace(" ", "-")


def has_steps(folder: Path) -> bool:
    """Whether the result of any step is stored in a folder."""
    return any(folder.glob(f"*{_SUFFIX}"))


def text_array(texts: Any) -> np.ndarray:
    """A list of texts, of any lengths and characters, as an array of bytes."""
    return np.frombuffer(json.dumps(list(texts)).encode(), dtype=np.uint8)


def texts_of(stored: np.ndarray) -> list[str]:
    return json.loads(stored.tobytes())
