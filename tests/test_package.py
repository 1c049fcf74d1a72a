"""The package's front: every public name, and an import that costs nothing until one is used."""

import subprocess
import sys

import pytest

import scca


@pytest.mark.parametrize("name", scca.__all__)
def test_every_public_name_is_there(name):
    assert getattr(scca, name) is not None
    assert name in dir(scca)


def test_star_import():
    names: dict = {}
    exec("from scca import *", names)
    assert set(scca.__all__) <= set(names)


def test_unknown_name():
    with pytest.raises(AttributeError, match="module 'scca' has no attribute 'SparseCAA'"):
        scca.SparseCAA  # noqa: B018  (the access is what is tested)


def test_solving_a_component_does_not_load_scikit_learn():
    program = (
        "import sys, numpy as np, scca; rng = np.random.default_rng(0); X = rng.normal(size=(9, 5))\n"
        "scca.solve_component(X, X @ X.T, 0); print({'sklearn', 'pandas', 'joblib'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


def test_importing_loads_no_large_library():
    program = "import sys, scca; print({'sklearn', 'numba', 'scipy', 'pandas'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"
