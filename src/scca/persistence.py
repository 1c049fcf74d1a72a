"""Model files: arrays and JSON in one checked container, with no code inside.

A model file is a zip archive. `manifest.json` holds the format's name and version and the model as a tree of plain
values; every array stands beside it as an .npy member that the tree refers to. The manifest carries the SHA-256 of each
member, and the archive's comment that of the manifest, so damage anywhere is found before anything is used.
"""

import hashlib
import io
import json
import os
import zipfile
import zlib
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from ._files import atomic_write
from ._version import __version__
from .estimators import KernelCCA, SparseCCA, SparseCCACV
from .text import BilingualModel, TextVectorizer
from .views import Kernel, KernelPreparation, Preparation, Projector

__all__ = ["ModelFileError", "load", "save"]

FORMAT, VERSION = "scca-model", 2
_MANIFEST = "manifest.json"
_MODELS = {cls.__name__: cls for cls in (SparseCCA, SparseCCACV, KernelCCA, BilingualModel)}
_PARTS = {cls.__name__: cls for cls in (TextVectorizer, Projector, Preparation, KernelPreparation, Kernel)}
_CLASSES: dict[str, Any] = {**_MODELS, **_PARTS}


class ModelFileError(ValueError):
    """A file that is not a whole model of a version this one reads."""


def save(model: Any, path: str | os.PathLike[str], *, texts: bool = True) -> None:
    """Write a fitted model to a file.

    The file appears whole or not at all: until it is complete, what was at `path` before stays.

    Parameters
    ----------
    model : SparseCCA, SparseCCACV, KernelCCA or BilingualModel
    path : str or Path
        Usually with the suffix `.scca`.
    texts : bool, default=True
        False leaves the training documents out of a bilingual model's file; their vectors stay, for `generate`.
    """
    if type(model) not in _MODELS.values():
        raise TypeError(f"save takes one of {', '.join(_MODELS)}; got a {type(model).__name__}.")
    check_is_fitted(model)
    writer = _Writer(leave_out=() if texts else ("texts_",))
    tree = writer.encode(model)
    manifest = {"format": FORMAT, "version": VERSION, "written_by": f"scca {__version__}", "model": tree}
    with atomic_write(path) as file, zipfile.ZipFile(file, "w") as archive:
        manifest["members"] = {}
        for name, array in writer.arrays.items():
            content = _npy(array)
            manifest["members"][name] = hashlib.sha256(content).hexdigest()
            mostly_zeros = 4 * np.count_nonzero(array) < array.size  # others hardly shrink
            archive.writestr(_entry(name), content, zipfile.ZIP_DEFLATED if mostly_zeros else zipfile.ZIP_STORED)
        content = json.dumps(manifest, ensure_ascii=False, allow_nan=False).encode()
        archive.writestr(_entry(_MANIFEST), content, compress_type=zipfile.ZIP_DEFLATED)
        archive.comment = hashlib.sha256(content).hexdigest().encode()


def load(path: str | os.PathLike[str]) -> Any:
    """Read a model that `save` wrote.

    Nothing in the file is executed. A damaged, truncated or foreign file, or one of a newer format, is refused.

    Parameters
    ----------
    path : str or Path

    Returns
    -------
    SparseCCA, SparseCCACV, KernelCCA or BilingualModel
    """
    path = Path(path)
    if not path.is_file():
        what = "is not a file" if path.exists() else "does not exist"
        raise ModelFileError(f"{path} {what}; name a model file that scca wrote.")
    try:
        with zipfile.ZipFile(path) as archive:
            return _Reader(archive, path).model()
    except ModelFileError:
        raise
    except (zipfile.BadZipFile, zlib.error) as error:
        raise ModelFileError(f"{path} is not a whole model file of scca ({error}); write it again.") from error
    except (ValueError, KeyError, TypeError, AttributeError, IndexError, EOFError, NotImplementedError) as error:
        raise ModelFileError(f"{path} is damaged ({type(error).__name__}: {error}); write it again.") from error


class _Writer:
    """Turns a model into a tree of JSON values and the arrays it refers to."""

    def __init__(self, leave_out: tuple[str, ...]):
        self.arrays: dict[str, np.ndarray] = {}
        self._names: dict[int, str] = {}
        self._leave_out = leave_out

    def encode(self, value: Any) -> Any:
        if value is None or isinstance(value, bool | str | int):
            return value
        if isinstance(value, np.generic):
            return self.encode(value.item())
        if isinstance(value, float):
            return value if np.isfinite(value) else {"$float": repr(value)}
        if isinstance(value, np.ndarray):
            if value.dtype.kind in "OU":
                return {"$strings": [str(item) for item in value]}
            if id(value) not in self._names:  # an array that several parts share is stored once
                self._names[id(value)] = f"{len(self.arrays)}.npy"
                self.arrays[self._names[id(value)]] = value
            return {"$array": self._names[id(value)]}
        if sp.issparse(value):
            rows = sp.csr_array(value)
            return {
                "$sparse": [self.encode(part) for part in (rows.data, rows.indices, rows.indptr)],
                "shape": list(rows.shape),
            }
        if isinstance(value, tuple):
            return {"$tuple": [self.encode(item) for item in value]}
        if isinstance(value, list | range):
            return [self.encode(item) for item in value]
        if isinstance(value, dict):
            return {"$dict": {key: self.encode(item) for key, item in value.items()}}
        if type(value).__name__ in _CLASSES and type(value) is _CLASSES[type(value).__name__]:
            return {"$object": type(value).__name__, "state": self._state(value)}
        raise TypeError(
            f"a model with {value!r} inside cannot be saved: a model file holds numbers and text, no code; choose "
            "kernels, anchors and scoring by name, and folds by number."
        )

    def _state(self, value: Any) -> dict[str, Any]:
        if is_dataclass(value):
            return {field.name: self.encode(getattr(value, field.name)) for field in fields(value)}
        return {name: None if name in self._leave_out else self.encode(item) for name, item in vars(value).items()}


class _Reader:
    """Turns a checked archive back into a model."""

    def __init__(self, archive: zipfile.ZipFile, path: Path):
        self._archive = archive
        self._path = path
        self._manifest = self._checked_manifest()

    def _checked_manifest(self) -> dict[str, Any]:
        if _MANIFEST not in self._archive.namelist():
            raise ModelFileError(f"{self._path} is not a model file of scca; name one that scca wrote.")
        content = self._archive.read(_MANIFEST)
        manifest = json.loads(content)
        if manifest.get("format") != FORMAT:
            raise ModelFileError(f"{self._path} is not a model file of scca; name one that scca wrote.")
        if manifest["version"] > VERSION:
            raise ModelFileError(
                f"{self._path} has format {manifest['version']}, written by {manifest['written_by']}, and this version "
                f"reads format {VERSION}; update scca."
            )
        if manifest["version"] < VERSION:
            raise ModelFileError(
                f"{self._path} has format {manifest['version']}, written by {manifest['written_by']}, and this version "
                f"reads format {VERSION}; fit the model again."
            )
        if hashlib.sha256(content).hexdigest().encode() != self._archive.comment:
            raise ModelFileError(f"{self._path} is damaged: its manifest fails its checksum; write it again.")
        return manifest

    def model(self) -> Any:
        tree = self._manifest["model"]
        if tree.get("$object") not in _MODELS:
            raise ModelFileError(f"{self._path} holds no model of a kind known here; update scca.")
        return self._decode(tree)

    def _decode(self, tree: Any) -> Any:
        if isinstance(tree, list):
            return [self._decode(item) for item in tree]
        if not isinstance(tree, dict):
            return tree
        if "$array" in tree:
            return self._array(tree["$array"])
        if "$strings" in tree:
            return np.array(tree["$strings"], dtype=object)
        if "$float" in tree:
            return float(tree["$float"])
        if "$tuple" in tree:
            return tuple(self._decode(item) for item in tree["$tuple"])
        if "$dict" in tree:
            return {key: self._decode(item) for key, item in tree["$dict"].items()}
        if "$sparse" in tree:
            return sp.csr_array(tuple(self._decode(part) for part in tree["$sparse"]), shape=tuple(tree["shape"]))
        return self._object(tree)

    def _object(self, tree: Any) -> Any:
        cls = _CLASSES[tree["$object"]]
        state = {name: self._decode(item) for name, item in tree["state"].items()}
        if not issubclass(cls, BaseEstimator):
            return cls(**state)
        known = cls().get_params(deep=False)
        made = cls(**{name: value for name, value in state.items() if name in known})
        for name, value in state.items():
            if name not in known:
                setattr(made, name, value)
        return made

    def _array(self, name: str) -> np.ndarray:
        content = self._archive.read(name)
        if hashlib.sha256(content).hexdigest() != self._manifest["members"][name]:
            raise ModelFileError(f"{self._path} is damaged: {name} fails its checksum; write it again.")
        return np.load(io.BytesIO(content), allow_pickle=False)


def _npy(array: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, np.ascontiguousarray(array), allow_pickle=False)
    return buffer.getvalue()


def _entry(name: str) -> zipfile.ZipInfo:
    """A member without a date, so that the same model gives the same bytes."""
    return zipfile.ZipInfo(name)
