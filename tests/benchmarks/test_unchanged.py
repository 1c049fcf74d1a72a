"""How the answers of two versions are compared; nothing is fitted."""

import numpy as np
import pytest

pytest.importorskip("benchmarks", reason="the benchmarks are not beside these tests")

from benchmarks.unchanged import difference

WEIGHTS = np.array([[4.0, 0.0], [np.nan, -1.0]])
BEFORE = {"weights": WEIGHTS, "words": np.array(["eau", "verdict"])}


def test_equal_answers_do_not_differ():
    assert difference(BEFORE, {name: array.copy() for name, array in BEFORE.items()}) == (0.0, "")


def test_a_difference_is_relative_to_the_largest_value_of_its_array():
    size, where = difference(BEFORE, BEFORE | {"weights": WEIGHTS + 1e-3})
    assert size == pytest.approx(1e-3 / 4)
    assert where.startswith("weights differs")


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"weights": WEIGHTS[:1]}, "shape"),
        ({"weights": WEIGHTS.astype(np.float32)}, "float32"),
        ({"weights": np.nan_to_num(WEIGHTS)}, "finite"),
        ({"weights": np.where(WEIGHTS == 4.0, np.nan, WEIGHTS)}, "finite"),
        ({"words": np.array(["eau", "jugement"])}, "1 of 2"),
        ({"loadings": WEIGHTS}, "missing before"),
    ],
)
def test_what_no_tolerance_allows(changed, reason):
    size, where = difference(BEFORE, BEFORE | changed)
    assert size == np.inf
    assert reason in where


def test_opposite_signs_and_missing_answers_differ():
    assert difference(BEFORE, BEFORE | {"weights": -WEIGHTS})[0] == 2.0
    assert difference(BEFORE, {"words": BEFORE["words"]}) == (np.inf, "weights is missing after")
