"""The package's front: every public name, and an import that costs nothing until one is used."""

import ast
import pkgutil
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import scca

README = Path(__file__).parents[1] / "README.md"


@pytest.mark.parametrize("name", scca.__all__)
def test_every_public_name_is_there(name):
    assert getattr(scca, name) is not None
    assert name in dir(scca)


def packages() -> list[str]:
    """scca, and all packages and modules in it that do not start with an underscore."""
    found = pkgutil.walk_packages(scca.__path__, "scca.")
    return ["scca", *(part.name for part in found if "._" not in part.name)]


@pytest.mark.parametrize("package", packages())
def test_every_name_in_all_is_there(package):
    module = import_module(package)
    assert [name for name in getattr(module, "__all__", ()) if not hasattr(module, name)] == []


def test_all_packages_are_looked_at():
    folders = {path.parent.name for path in Path(scca.__file__).parent.glob("*/__init__.py")}
    assert {f"scca.{name}" for name in folders} <= set(packages())


def test_star_import():
    names: dict = {}
    exec("from scca import *", names)
    assert set(scca.__all__) <= set(names)


def test_unknown_name():
    with pytest.raises(AttributeError, match="module 'scca' has no attribute 'SparseCAA'"):
        scca.SparseCAA  # noqa: B018  (the access is what is tested)


def printed_by(program: str) -> str:
    """What a program prints in a process of its own, where nothing else has imported a part of scca."""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return done.stdout


@pytest.mark.skipif(not README.exists(), reason="an installed package has no README")
def test_names_in_the_readme_are_there_after_import_scca():
    names = sorted(set(re.findall(r"(?<![\w.])scca(?:\.[A-Za-z_]+)+", README.read_text(encoding="utf-8"))))
    assert "scca.distributed.scatter" in names
    assert printed_by(f"import scca\nfor name in {names}: eval(name)\nprint('all')") == "all\n"


def test_a_cluster_without_dask_names_the_extra():
    program = (
        "import sys, scca; sys.modules['distributed'] = None  # as if it were not installed\n"
        "try: scca.distributed.connect('tcp://127.0.0.1:1')\n"
        "except ImportError as error: print(error)"
    )
    assert printed_by(program) == "a cluster needs Dask: run pip install 'scca[dask]'.\n"


def test_solving_a_component_does_not_load_scikit_learn():
    program = (
        "import sys, numpy as np, scca; rng = np.random.default_rng(0); X = rng.normal(size=(9, 5))\n"
        "scca.solve_component(X, X @ X.T, 0); print({'sklearn', 'pandas', 'joblib'} & set(sys.modules))"
    )
    assert printed_by(program) == "set()\n"


def test_importing_loads_no_large_library():
    program = (
        "import sys, scca; print({'sklearn', 'numba', 'scipy', 'pandas', 'dask', 'distributed'} & set(sys.modules))"
    )
    assert printed_by(program) == "set()\n"


def private_imports_across_packages(package: Path) -> list[str]:
    """Imports of another package's private module; what is private at the root belongs to all."""
    found = []
    for file in sorted(package.rglob("*.py")):
        here = (package.name, *file.relative_to(package).parts[:-1])
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom):
                source = (*here[: len(here) - node.level + 1], node.module) if node.level else (node.module,)
                names = [".".join(filter(None, (*source, alias.name))) for alias in node.names]
            elif isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            else:
                continue
            for name in names:
                parts = tuple(name.split("."))
                depth = next((i for i, part in enumerate(parts) if part.startswith("_") and part[:2] != "__"), 0)
                if parts[0] == package.name and depth > 1 and parts[:depth] != here[:depth]:
                    found.append(f"{file.relative_to(package).as_posix()}:{node.lineno} imports {name}")
    return found


def test_packages_import_only_what_others_export():
    assert private_imports_across_packages(Path(scca.__file__).parent) == []


def test_an_import_across_a_border_is_found(tmp_path):
    (tmp_path / "scca" / "a").mkdir(parents=True)
    (tmp_path / "scca" / "a" / "__init__.py").write_text("from ._mine import x\nfrom .._shared import y\nimport os\n")
    (tmp_path / "scca" / "a" / "_mine.py").write_text("from ..b._its import x\nimport scca.b._its\n")
    (tmp_path / "scca" / "outer.py").write_text("from .a import _mine\nfrom scca.a import public\n")
    assert private_imports_across_packages(tmp_path / "scca") == [
        "a/_mine.py:1 imports scca.b._its.x",
        "a/_mine.py:2 imports scca.b._its",
        "outer.py:1 imports scca.a._mine",
    ]
