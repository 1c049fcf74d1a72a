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


def test_importing_loads_no_large_library():
    program = "import sys, scca; print({'sklearn', 'numba', 'scipy', 'pandas'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"
