"""In a new process: how far resident memory rises while a model is fitted or a component is solved."""

import json
import pickle
import sys
import tempfile
import time
import warnings
from pathlib import Path

from scca import MultiSparseCCA, SparseCCA, solve_component
from scca.datasets import make_planted
from scca.readers import read_pairs
from scca.text import BilingualModel

from ._resident import reset_peak, resident
from .million import written


def fit(data) -> dict:
    views, n_components = data
    SparseCCA(n_components).fit(*views)
    return {}


def fit_views(data) -> dict:
    views, n_components = data
    MultiSparseCCA(n_components).fit(views)
    return {}


def fit_kernel(data) -> dict:
    """Kernel CCA and the average precision of finding the mates of other pairs."""
    model, train, test = data
    model.fit(*train)
    return {"error": 1 - model.score(*test), "left_out": getattr(model, "y_kernel_error_", 0.0)}


def solve(problem) -> dict:
    solve_component(problem.X, problem.K, problem.k)
    return {}


def text(data) -> dict:
    """From two files of sentences to a model: read, counted, weighted and fitted."""
    n_pairs, n_components = data
    with tempfile.TemporaryDirectory() as folder:
        paths = written(Path(folder), n_pairs)
        size = sum(path.stat().st_size for path in paths)
        model = BilingualModel(n_components, keep_texts=False).fit(read_pairs(*paths))
    return {"data": size, "shape": model.training_[0].shape, "peak": resident("VmHWM")}


def main(path: str, task: str) -> None:
    SparseCCA(1).fit(*make_planted(50, 50, 50, density=0.5, random_state=0).views)  # loads what is compiled
    data = pickle.loads(Path(path).read_bytes())
    reset_peak()
    before, start = resident("VmRSS"), time.perf_counter()
    warnings.simplefilter("ignore")  # the error of an approximated kernel is in the table
    tasks = {"fit": fit, "fit-views": fit_views, "fit-kernel": fit_kernel, "solve": solve, "text": text}
    found = tasks[task](data)
    print(json.dumps({"bytes": resident("VmHWM") - before, "seconds": time.perf_counter() - start, **found}))


if __name__ == "__main__":
    main(*sys.argv[1:])
