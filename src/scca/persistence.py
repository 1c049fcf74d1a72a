"""Model files: arrays and JSON in one checked container, without code.

A model file is a zip archive. `manifest.json` has the format's name and version and the model as a tree of plain values
that refers to arrays, each an .npy member. The manifest has the SHA-256 of each member, and the archive's comment has
that of the manifest, so damage is found before anything is used. Checksums do not stop an attacker: sizes are checked
before anything is unpacked, and the parts of the model before anything is computed.
"""

import hashlib
import io
import json
import math
import os
import re
import zipfile
from contextlib import suppress
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import IO, Any, NoReturn

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from ._checks import shown
from ._files import atomic_write
from ._model_checks import check_loaded
from ._sparse import check_structure
from ._version import __version__
from .estimators import AnchoredCCA, KernelCCA, LowRankKernel, MultiSparseCCA, PairedTransformer, SparseCCA
from .kinds import Kind, TextVectorizer, registered
from .model import Model
from .text import BilingualModel
from .tuning import AnchoredCCACV, SparseCCACV
from .views import (
    UNIT,
    Kernel,
    KernelPreparation,
    Landmarks,
    LowRankPreparation,
    Norm,
    Preparation,
    Projector,
    RandomFeatures,
)

__all__ = ["ModelFileError", "load", "save"]

FORMAT, VERSION = "scca-model", 6
_READ_VERSIONS = (2, 3, 4, 5, VERSION)  # versions of the format that can be read
_MANIFEST = "manifest.json"
_STORED, _DEFLATED = zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED
_TYPES = ("b1", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8")
_ZIP_START = b"PK\x03\x04"  # first bytes of a zip archive
_BYTES_AT_ONCE = 2**20  # number of bytes unpacked at a time
_MOST_PARTS = 100_000  # maximum number of lists and dictionaries in a manifest
_JSON_STRING = re.compile(rb'"(?:[^"\\]++|\\.)*+"')
_MOST_QUOTED = 200  # maximum number of characters of the writer's name in a message
_ESTIMATORS = (SparseCCA, MultiSparseCCA, SparseCCACV, AnchoredCCA, AnchoredCCACV, KernelCCA)
_MODELS: dict[str, Any] = {cls.__name__: cls for cls in (*_ESTIMATORS, Model, BilingualModel)}
_LOW_RANK = (LowRankKernel, LowRankPreparation, Landmarks, RandomFeatures)
_PREPARING = (Preparation, KernelPreparation, Norm)
_PARTS = {cls.__name__: cls for cls in (Projector, *_PREPARING, Kernel, *_LOW_RANK)}
_CLASSES: dict[str, Any] = {**_MODELS, **_PARTS}
_OLD_CLASSES: dict[str, Any] = {"TextVectorizer": TextVectorizer}  # up to format 4; now a kind


class ModelFileError(ValueError):
    """A file that is not a complete model in the format that this version reads."""


def save(model: Any, path: str | os.PathLike[str], *, texts: bool = True) -> None:
    """Write a fitted model to a file.

    The file appears complete or not at all: an existing file at `path` stays until then.

    Parameters
    ----------
    model : Model, BilingualModel, or an estimator: SparseCCA, MultiSparseCCA, SparseCCACV, AnchoredCCA, \
            AnchoredCCACV, KernelCCA
    path : str or Path
        Usually with the suffix `.scca`.
    texts : bool, default=True
        False leaves the training documents, and labels of rows, of all views out of a model's file; the matrices of the
        training samples stay, for `generate`.
    """
    if type(model) not in _MODELS.values():
        raise TypeError(f"save takes one of {', '.join(_MODELS)}; got a {type(model).__name__}.")
    check_is_fitted(model)
    writer = _Writer(leave_out=() if texts else ("samples_",))
    tree = writer.encode(model)
    manifest = {"format": FORMAT, "version": VERSION, "written_by": f"scca {__version__}", "model": tree}
    with atomic_write(path) as file, zipfile.ZipFile(file, "w") as archive:
        manifest["members"] = {}
        unpacked = 0
        for name, array in writer.arrays.items():
            content = _npy(array)
            manifest["members"][name] = hashlib.sha256(content).hexdigest()
            unpacked += len(content)
            mostly_zeros = 4 * np.count_nonzero(array) < array.size  # other arrays hardly shrink
            readable = 2 * unpacked <= most_unpacked(file.tell())  # otherwise `load` might refuse the file
            archive.writestr(_undated_entry(name), content, _DEFLATED if mostly_zeros and readable else _STORED)
        content = json.dumps(manifest, ensure_ascii=False, allow_nan=False).encode()
        readable = len(content) <= most_manifest(file.tell())
        archive.writestr(_undated_entry(_MANIFEST), content, _DEFLATED if readable else _STORED)
        archive.comment = hashlib.sha256(content).hexdigest().encode()


def load(path: str | os.PathLike[str]) -> Any:
    """Read a model that `save` wrote.

    Nothing in the file is executed. A file is refused if it is damaged, truncated, inconsistent or of another format,
    or if it would unpack to more than both 256 MiB and 100 times its size.
    """
    path = Path(path)
    if not path.is_file():
        what = "is not a file" if path.exists() else "does not exist"
        raise ModelFileError(f"{path} {what}; name a model file that scca wrote.")
    try:
        with zipfile.ZipFile(path) as archive:
            model = _Reader(archive, path).model()
            check_loaded(model)
            return model
    except ModelFileError:
        raise
    except PermissionError as error:
        raise ModelFileError(f"{path} may not be read by this user; change its permissions.") from error
    except MemoryError as error:
        raise ModelFileError(f"{path} does not fit in memory; free some, or use a larger machine.") from error
    except Exception as error:  # whatever error a library raises, the file causes it
        raise ModelFileError(_complaint(path)) from error  # developers find the details in the cause


def _complaint(path: Path) -> str:
    """The message about a file that cannot be read as a model."""
    start = b""
    with suppress(OSError), open(path, "rb") as file:
        start = file.read(len(_ZIP_START))
    if not _ZIP_START.startswith(start):
        return f"{path} is not a model file of scca; name one that scca wrote."
    return f"{path} is damaged, incomplete or altered; write it again."


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
            if id(value) not in self._names:  # an array that several parts share is stored only once
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
        if isinstance(value, Kind):
            if type(value) not in registered().values():
                raise TypeError(
                    f"a model with a view of {type(value).__name__} cannot be saved, because no file could name it: "
                    "give the class a kind of its own and pass it to scca.kinds.register."
                )
            return {"$kind": value.kind, "state": self._state(value)}
        if type(value).__name__ in _CLASSES and type(value) is _CLASSES[type(value).__name__]:
            return {"$object": type(value).__name__, "state": self._state(value)}
        raise TypeError(
            f"a model that contains {value!r} cannot be saved: model files have numbers and text, no code; choose "
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
        self._members = {entry.filename: entry for entry in archive.infolist()}
        self._arrays: dict[str, np.ndarray] = {}
        self._check_sizes(path.stat().st_size)
        self._manifest = self._checked_manifest()

    def _check_sizes(self, size: int) -> None:
        """Refuse a file whose declared sizes would fill the memory; no more than these is ever unpacked."""
        if _MANIFEST not in self._members:
            raise ModelFileError(f"{self._path} is not a model file of scca; name one that scca wrote.")
        for declared, most in (
            (sum(entry.file_size for entry in self._archive.infolist()), most_unpacked(size)),
            (self._members[_MANIFEST].file_size, most_manifest(size)),
        ):
            if declared > most:
                raise ModelFileError(
                    f"{self._path} unpacks to {declared} bytes, where a file of its size may hold {most}; name one "
                    "that scca wrote."
                )

    def _opened(self, name: str) -> IO[bytes]:
        if self._members[name].compress_type not in (_DEFLATED, _STORED):
            raise ValueError(f"{name} is compressed in a way that scca does not use")
        return self._archive.open(self._members[name])

    def _checked_manifest(self) -> dict[str, Any]:
        with self._opened(_MANIFEST) as stream:
            content = stream.read(self._members[_MANIFEST].file_size)
        structure = _JSON_STRING.sub(b"", content)
        if structure.count(b"[") + structure.count(b"{") > _MOST_PARTS:  # each takes 20 times its size in memory
            raise ValueError(f"its manifest has more than {_MOST_PARTS} lists and dictionaries")
        manifest = json.loads(content, parse_constant=_no_number)
        if manifest.get("format") != FORMAT:
            raise ModelFileError(f"{self._path} is not a model file of scca; name one that scca wrote.")
        version, writer = manifest["version"], str(manifest["written_by"])[:_MOST_QUOTED]
        if version not in _READ_VERSIONS:
            remedy = "update scca" if version > VERSION else "fit the model again"
            raise ModelFileError(
                f"{self._path} has format {shown(version)}, written by {' '.join(writer.split())}, and this version "
                f"reads formats {_READ_VERSIONS[0]} to {VERSION}; {remedy}."
            )
        if hashlib.sha256(content).hexdigest().encode() != self._archive.comment:
            raise ValueError("the manifest fails its checksum")
        return manifest

    def model(self) -> Any:
        tree = self._manifest["model"]
        if tree.get("$object") not in _MODELS:
            raise ModelFileError(f"{self._path} holds no model of a kind known here; update scca.")
        return self._decode(tree)

    def _decode(self, tree: Any) -> Any:
        if isinstance(tree, list):
            return [self._decode(item) for item in tree]
        if isinstance(tree, str):
            return _text(tree)
        if not isinstance(tree, dict):
            return tree
        if "$array" in tree:
            return self._array(tree["$array"])
        if "$strings" in tree:
            return np.array([_text(item) for item in tree["$strings"]], dtype=object)
        if "$float" in tree:
            return float(tree["$float"])
        if "$tuple" in tree:
            return tuple(self._decode(item) for item in tree["$tuple"])
        if "$dict" in tree:
            return {key: self._decode(item) for key, item in tree["$dict"].items()}
        if "$sparse" in tree:
            matrix = sp.csr_array(tuple(self._decode(part) for part in tree["$sparse"]), shape=tuple(tree["shape"]))
            check_structure(matrix, "a part of the model")
            return matrix
        return self._object(tree)

    def _object(self, tree: Any) -> Any:
        cls = self._kind(tree["$kind"]) if "$kind" in tree else _OLD_CLASSES.get(tree["$object"])
        cls = _CLASSES[tree["$object"]] if cls is None else cls
        state = {name: self._decode(item) for name, item in tree["state"].items()}
        if self._manifest["version"] < 3:
            state = _from_format_2(cls, state)
        if self._manifest["version"] < 4:
            cls, state = _from_format_3(cls, state)
        if self._manifest["version"] < 5:
            state = _from_format_4(cls, state)
        if self._manifest["version"] < VERSION:
            state = _from_format_5(cls, state)
        if not issubclass(cls, BaseEstimator):
            return cls(**state)
        known = cls().get_params(deep=False)
        made = cls(**{name: value for name, value in state.items() if name in known})
        for name, value in state.items():
            if hasattr(cls, name):
                raise ValueError(f"{name} would hide a method")
            if name not in known:
                setattr(made, name, value)
        return made

    def _kind(self, name: Any) -> type[Kind]:
        kinds = registered()
        if name not in kinds:
            raise ModelFileError(
                f"{self._path} has a view of the kind {shown(name)}, which is not known here; import the package that "
                "defines it."
            )
        return kinds[name]

    def _array(self, name: str) -> np.ndarray:
        if name not in self._arrays:  # an array that several parts share is read only once
            self._arrays[name] = self._checked_array(name)
        return self._arrays[name]

    def _checked_array(self, name: str) -> np.ndarray:
        """An .npy member, unpacked piece by piece into an array whose size was checked first."""
        with self._opened(name) as file:
            stream = _HashingStream(file)
            if np.lib.format.read_magic(stream) != (1, 0):
                raise ValueError(f"{name} is no array as scca writes them")
            shape, by_columns, dtype = np.lib.format.read_array_header_1_0(stream)
            size = self._members[name].file_size - stream.n_read
            if dtype.str[1:] not in _TYPES or math.prod(shape) * dtype.itemsize != size:
                raise ValueError(f"{name} of type {dtype} and shape {shape} is no array of numbers of {size} bytes")
            array = np.empty(shape, dtype, order="F" if by_columns else "C")
            content = array.ravel(order="K").view(np.uint8)
            for start in range(0, size, _BYTES_AT_ONCE):
                piece = content[start : start + _BYTES_AT_ONCE]
                piece[:] = np.frombuffer(stream.read(len(piece)), np.uint8)
        if stream.hexdigest() != self._manifest["members"][name]:
            raise ValueError(f"{name} fails its checksum")
        return array


def _from_format_2(cls: type, state: dict[str, Any]) -> dict[str, Any]:
    """The current state of an object: format 2 had `normalize` where there are now several scalings."""
    if cls is KernelPreparation:
        return {**state, "norm": None if state["scale"] is None else UNIT}
    if "normalize" not in state:
        return state
    scale = "rows" if state["normalize"] else None
    others = {name: value for name, value in state.items() if name != "normalize"}
    if cls is Preparation:
        return {**others, "scale": scale, "norm": UNIT if scale else None}
    return {**others, "scale": scale, "x_scale_": scale, "y_scale_": scale}


_PAPERS = {SparseCCA: AnchoredCCA, SparseCCACV: AnchoredCCACV}


def _from_format_3(cls: type, state: dict[str, Any]) -> tuple[type, dict[str, Any]]:
    """The current class and state of an object.

    In format 3, `anchors` made a SparseCCA the paper's method, and the parameters of a kernel stood beside it.
    """
    if cls not in (SparseCCA, SparseCCACV, KernelCCA):
        return cls, state
    kernel, params = state["kernel"], state.pop("kernel_params")
    if isinstance(kernel, LowRankKernel):
        kernel = LowRankKernel(**{**kernel.get_params(), "kernel": _with_params(kernel.kernel, params)})
    else:
        kernel = _with_params(kernel, params)
    state["kernel"] = kernel
    if cls is KernelCCA:
        return cls, state
    representation, anchored = state.pop("representation"), state["anchors"] is not None
    if anchored:
        state["representation"] = "primal-dual" if representation == "auto" else representation
        cls = _PAPERS[cls]
    elif representation in ("dual-primal", "dual-dual"):
        state["kernel"] = kernel, "linear" if representation == "dual-primal" else kernel
    elif representation == "primal-primal":
        state["kernel"] = "linear"
    if "cv_results_" in state:
        _drop_penalty(state, "ridge" if anchored else "gamma")
    if anchored and isinstance(state["n_features"], str):
        state["n_features"] = None
    if not anchored:
        state.pop("gamma_", None)
        state.pop("gamma_factor_", None)
    known = {*cls().get_params(deep=False), "_projectors"}  # the other parameters are gone
    return cls, {name: value for name, value in state.items() if name in known or name.endswith("_")}


def _from_format_4(cls: type, state: dict[str, Any]) -> dict[str, Any]:
    """The current state of an object: up to format 4 a model had two views, X and Y, or two languages."""
    if issubclass(cls, BilingualModel):
        texts, numbers = state.pop("texts_"), state.pop("document_numbers_", None)
        n_samples = state.pop("n_documents_", state["training_"][0].shape[0])  # the first files store all documents
        for before, after in (("languages_", "view_names_"), ("vectorizers_", "kinds_"), ("scca_", "estimator_")):
            state[after] = state.pop(before)
        state["samples_"] = None if texts is None else (None, texts)
        return state | {"n_samples_": n_samples, "sample_numbers_": numbers, "provenance_": {}}
    if not issubclass(cls, PairedTransformer):
        return state
    both = {name: [state.pop(x, None), state.pop(y, None)] for name, (x, y) in _BOTH.items()}
    both = {name: pair for name, pair in both.items() if name in _ALWAYS or any(each is not None for each in pair)}
    by_name = state.pop("_projectors")
    state |= both | {"view_names_": ["X", "Y"], "_projectors": [by_name["X"], by_name["Y"]]}
    if issubclass(cls, SparseCCA):
        state |= {"view_pairs_": [(0, 1)], "pair_correlations_": state["correlations_"][None]}
    for name in ("held_out_correlations_", "held_out_intervals_"):
        if name in state:
            state[name.replace("held_out_", "held_out_pair_")] = state[name][None]
    return state


def _from_format_5(cls: type, state: dict[str, Any]) -> dict[str, Any]:
    """The current state of an object: up to format 5 a view was sparse or dense, and all weights were shown."""
    if not issubclass(cls, MultiSparseCCA) or "weights_" not in state:
        return state
    asked, weights = state["rendering"], state["weights_"]
    return state | {
        "rendering_": [asked] * len(weights) if isinstance(asked, str) else list(asked),
        "shown_": [None] * len(weights),
        "n_read_": [int(np.count_nonzero(each.any(axis=1))) for each in weights],
    }


_BOTH = {
    "weights_": ("x_weights_", "y_weights_"),
    "loadings_": ("x_loadings_", "y_loadings_"),
    "rotations_": ("x_rotations_", "y_rotations_"),
    "scales_": ("x_scale_", "y_scale_"),
    "preparations_": ("x_preparation_", "y_preparation_"),
    "feature_weights_": ("x_feature_weights_", "y_feature_weights_"),
    "kernel_errors_": ("x_kernel_error_", "y_kernel_error_"),
    "n_features_": ("n_features_in_", "n_features_y_"),
    "feature_names_": ("feature_names_in_", "feature_names_y_"),
}
_ALWAYS = ("feature_weights_", "kernel_errors_", "feature_names_", "scales_")  # lists even without any value


def _drop_penalty(state: dict[str, Any], name: str) -> None:
    """Take a penalty that the estimator does not have out of the results of a search."""
    state["cv_results_"].pop(f"{name}_factor", None)
    for params in (state["best_params_"], *state["cv_results_"]["params"]):
        params.pop(name, None)


def _with_params(kernel: Any, params: Any) -> Any:
    return Kernel(kernel, params) if params else kernel


class _HashingStream:
    """A stream that hashes the bytes that are read from it."""

    def __init__(self, stream: IO[bytes]):
        self._stream, self._hash = stream, hashlib.sha256()
        self.n_read = 0

    def read(self, size: int = -1, /) -> bytes:
        content = self._stream.read(size)
        self._hash.update(content)
        self.n_read += len(content)
        return content

    def hexdigest(self) -> str:
        return self._hash.hexdigest()


def most_unpacked(size: int) -> int:
    """The maximum number of bytes that `size` bytes may unpack to: weights that are mostly zeros compress well."""
    return max(2**28, 100 * size)


def most_manifest(size: int) -> int:
    """The maximum number of bytes of its manifest, which takes several times as much memory when parsed."""
    return max(2**23, 20 * size)


def _no_number(literal: str) -> NoReturn:
    raise ValueError(f"{literal} is no number of JSON")


def _text(value: Any) -> str:
    value.encode()  # fails for a lone surrogate, or if it is not text
    return value


def _npy(array: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, np.ascontiguousarray(array), allow_pickle=False)
    return buffer.getvalue()


def _undated_entry(name: str) -> zipfile.ZipInfo:
    """A zip entry without a date, so that the same model gives the same bytes."""
    return zipfile.ZipInfo(name)
