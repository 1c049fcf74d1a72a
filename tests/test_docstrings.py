"""Public docstrings, by numpydoc's rules that pyproject.toml lists; and a type for whatever a public call takes."""

import inspect
import tomllib
from importlib import import_module
from pathlib import Path

import pytest

PARTS = (
    "scca",
    "scca.datasets",
    "scca.retrieval",
    "scca.anchored._generation",
    "scca.inference",
    "scca.kinds",
    "scca.model",
    "scca.results",
    "scca.text",
    "scca.distributed",
)


def public_objects() -> dict[str, object]:
    """Classes, their methods, those of their bases here too, and functions, by where they are defined."""
    found = {}
    for part in map(import_module, PARTS):
        for name in part.__all__:
            value = getattr(part, name)
            if inspect.isclass(value) or inspect.isfunction(value):
                found[f"{value.__module__}.{value.__qualname__}"] = value
            if inspect.isclass(value):
                methods = [v for k, v in inspect.getmembers(value, inspect.isfunction) if not k.startswith("_")]
                found |= {f"{v.__module__}.{v.__qualname__}": v for v in methods if v.__module__.startswith("scca.")}
    return found


OBJECTS = public_objects()


def test_methods_of_bases_are_among_them():
    assert {
        "scca.estimators._base.ViewsEstimator.project",
        "scca.estimators._paired.PairedTransformer.transform_pair",
        "scca.model._model.Model.mates",
        "scca.text._bilingual.BilingualModel.translate",
    } <= OBJECTS.keys()


@pytest.mark.filterwarnings("ignore")  # numpydoc warns of what it then reports
@pytest.mark.parametrize("path", OBJECTS)
def test_numpydoc(path):
    validate = pytest.importorskip("numpydoc.validate").validate
    project = Path(__file__).parents[1] / "pyproject.toml"
    checks = set(tomllib.loads(project.read_text(encoding="utf-8"))["tool"]["numpydoc_validation"]["checks"])
    if "Parameters\n" not in (inspect.getdoc(OBJECTS[path]) or ""):
        checks -= {"PR01"}  # a sentence says it
    assert [error for error in validate(path)["errors"] if error[0] in checks] == []


@pytest.mark.parametrize("path", OBJECTS)
def test_every_parameter_has_a_type(path):
    called = OBJECTS[path].__init__ if inspect.isclass(OBJECTS[path]) else OBJECTS[path]
    if not inspect.isfunction(called) or called.__qualname__ == "Protocol.__init__":
        return
    parameters = list(inspect.signature(called).parameters.values())
    assert [p.name for p in parameters if p.annotation is p.empty and p.name != "self"] == []
