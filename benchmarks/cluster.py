"""A bilingual model on 1, 2 and 4 workers of this machine beside one process: overhead, traffic, and the same model."""

import tempfile
import time
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from scca.distributed import local_cluster, read_texts, seconds_computed
from scca.readers import read_texts as read_here
from scca.text import BilingualModel

from ._resident import reset_peak, resident
from ._table import print_table
from .million import written

__all__ = ["run"]

_HEADER = [
    "workers",
    "seconds",
    "ratio",
    "passes",
    "tasks",
    "MB sent",
    "MB received",
    "communication",
    "client GB",
    "worker GB",
    "1 - cosine",
]


def run(corpus: tuple[Path, Path] | None, n_pairs: int | None, workers: Sequence[int], n_components: int = 20) -> None:
    """Half of the pairs, and all of them."""
    n_pairs = n_pairs or 50_000
    with tempfile.TemporaryDirectory() as folder:
        whole = corpus or written(Path(folder), n_pairs)
        for size in (n_pairs // 2, n_pairs):
            files = _first(whole, size, Path(folder))
            title = f"{size:,} pairs, {n_components} components, held_out=0"
            print_table(title, _HEADER, _rows(files, n_components, workers))


def _first(files: tuple[Path, Path], size: int, folder: Path) -> list[Path]:
    """Files of the first pairs."""
    paths = []
    for side, path in enumerate(files):
        paths.append(folder / f"first-{size}.{side}")
        with open(path, "rb") as lines, open(paths[-1], "wb") as file:
            file.writelines(islice(lines, size))
    return paths


def _rows(files: list[Path], n_components: int, workers: Sequence[int]) -> list[list[str]]:
    reset_peak()
    start = time.perf_counter()
    model = BilingualModel(n_components, held_out=0).fit(read_here(*files))
    alone = time.perf_counter() - start
    rows = [["none", f"{alone:.1f}", "1", "", "", "", "", "", f"{resident('VmHWM') / 1e9:.2f}", "", ""]]
    for n_workers in workers:
        reset_peak()
        with local_cluster(n_workers) as client:
            start = time.perf_counter()
            texts = read_texts(client, *files)
            found = BilingualModel(n_components, held_out=0)
            traffic = _fitted(found, texts)
            seconds = time.perf_counter() - start
            busy = max(client.run(seconds_computed).values())
            of_workers = max(client.run(resident, "VmHWM").values())
        rows.append(
            [
                str(n_workers),
                f"{seconds:.1f}",
                f"{seconds / alone:.2f}",
                str(traffic.n_passes),
                str(traffic.n_tasks),
                f"{traffic.sent / 1e6:.0f}",
                f"{traffic.received / 1e6:.0f}",
                f"{max(0.0, 1.0 - busy / traffic.seconds):.0%}",
                f"{resident('VmHWM') / 1e9:.2f}",
                f"{of_workers / 1e9:.2f}",
                f"{_difference(found, model):.0e}",
            ]
        )
    return rows


def _fitted(model: BilingualModel, texts: Any) -> Any:
    """Fit, and return what was sent and received, of which the model itself keeps nothing."""
    views: list[Any] = []
    learn = texts.learn

    def noting(vectorizers: Any) -> Any:
        found = learn(vectorizers)
        views.extend(found[0])
        return found

    texts.learn = noting
    model.fit(texts)
    return views[0].remote.traffic


def _difference(one: BilingualModel, other: BilingualModel) -> float:
    """The largest 1 - cosine of the weights of a component."""
    differences = []
    for name in ("x_weights_", "y_weights_"):
        A, B = getattr(one.scca_, name), getattr(other.scca_, name)
        norms = np.linalg.norm(A, axis=0) * np.linalg.norm(B, axis=0)
        differences.append(1.0 - (np.einsum("ij,ij->j", A, B) / np.where(norms > 0, norms, 1.0)).min())
    return max(differences)
