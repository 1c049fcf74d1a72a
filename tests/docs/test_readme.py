"""The recipe for p-values and stable features in README: it runs, prints what README says, and its answer is right."""

import contextlib
import io
import re
import warnings
from pathlib import Path

import numpy as np
import pytest

from scca.datasets import make_planted

PAGE = Path(__file__).parents[2] / "README.md"

pytestmark = pytest.mark.skipif(not PAGE.exists(), reason="an installed package has no README")


@pytest.fixture(scope="module")
def recipe():
    """The code of the section, and what README says it prints."""
    section = PAGE.read_text(encoding="utf-8").split("## p-values and stable features")[1].split("\n## ")[0]
    return tuple(re.search(rf"```{kind}\n(.*?)```", section, re.DOTALL)[1] for kind in ("python", "text"))


@pytest.fixture(scope="module")
def ran(recipe):
    """Its names and what it prints, with a tenth of the permutations, which take half a minute."""
    code = recipe[0].replace("n_permutations=199", "n_permutations=19")
    assert code != recipe[0]
    names, out = {}, io.StringIO()
    with contextlib.redirect_stdout(out), warnings.catch_warnings():
        warnings.simplefilter("error")  # it must not warn of its own results
        exec(compile(code, str(PAGE), "exec"), names)
    return names, out.getvalue().splitlines()


def test_as_many_components_are_significant_as_readme_says(recipe, ran):
    said = np.array(re.findall(r"[\d.]+", recipe[1].splitlines()[0]), dtype=float)
    assert ran[0]["test"].n_significant(0.05) == np.count_nonzero(said <= 0.05) == 2


def test_the_selected_features_and_their_bound_are_those_in_readme(recipe, ran):
    (count, bound), (said_count, said_bound) = (lines[1].split() for lines in (ran[1], recipe[1].splitlines()))
    assert count == said_count
    assert float(bound) == pytest.approx(float(said_bound), abs=0.03)  # where BLAS rounds otherwise


def test_what_is_selected_can_be_trusted(ran):
    stable, planted = ran[0]["stable"], make_planted(100, 300, 300, n_active=5, strength=1.5, random_state=0)
    np.testing.assert_array_equal(ran[0]["X"], planted.X)
    assert stable.selected_x.tolist() == np.flatnonzero(planted.x_loadings.any(axis=1)).tolist()
    assert max(stable.expected_false_x, stable.expected_false_y) <= 1
