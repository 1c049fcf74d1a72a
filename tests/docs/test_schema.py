"""The documented schema of results names every field there is."""

import re
from dataclasses import fields, is_dataclass
from pathlib import Path

import pytest

from scca import results

README = Path(__file__).parents[2] / "docs" / "schema" / "README.md"


@pytest.mark.parametrize(
    "kind", [kind for name in results.__all__ if is_dataclass(kind := getattr(results, name)) and name != "Described"]
)
def test_every_field_is_documented(kind):
    named = set(re.findall(r"`(\w+)`", README.read_text(encoding="utf-8")))
    assert {field.name for field in fields(kind)} <= named


def test_the_number_of_the_schema_is_documented():
    assert f'"{results.SCHEMA}"' in README.read_text(encoding="utf-8")
