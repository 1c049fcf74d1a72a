"""The search for an automatic penalty: few weights, not fewer than needed, in few trials, whatever the counts are."""

import numpy as np
import pytest

from scca.factors.constants import ENOUGH_WEIGHTS
from scca.factors.selection import _NEAR, _TRIALS, _few_weights

MOST = 100
ENTRY = np.linspace(0.0, 20.0, 401)


class Counted:
    """A count of weights by penalty, and which were asked for."""

    def __init__(self, count):
        self.count, self.asked = count, []

    def __call__(self, mu):
        self.asked.append(mu)
        return int(self.count(mu))


def power(scale, exponent):
    return lambda mu: scale * mu**-exponent


def line(mu):
    return max(0, 400 * (1 - mu / 20))


def jump(mu):
    return 130 if mu < 7.3 else 40


def saw(mu):
    """A feature may leave and come back as the penalty falls."""
    return line(mu) * (1 + 0.1 * np.sin(40 * mu))


COUNTS = {"steep": power(4e3, 2.5), "usual": power(900, 1.0), "flat": power(200, 0.3), "line": line, "saw": saw}


@pytest.mark.parametrize("before", [None, 0.7, 3.0, 19.0])
@pytest.mark.parametrize("name", COUNTS)
def test_a_penalty_is_searched_that_leaves_few_weights_but_enough(name, before):
    counted = Counted(COUNTS[name])
    found = _few_weights(ENTRY, 0.5, MOST, counted, before)
    assert len(counted.asked) <= 10
    too_low = max((mu for mu in counted.asked if counted.count(mu) > MOST), default=0.0)
    assert counted(found) <= MOST
    assert counted(found) >= ENOUGH_WEIGHTS * MOST or found <= _NEAR * too_low


@pytest.mark.parametrize("before", [None, 0.7, 19.0])
def test_where_no_penalty_leaves_about_so_many_it_is_just_above_the_jump(before):
    counted = Counted(jump)
    found = _few_weights(ENTRY, 0.5, MOST, counted, before)
    assert 7.3 <= found <= 7.3 * _NEAR
    assert len(counted.asked) <= 25


@pytest.mark.parametrize("before", [None, 5.0])
def test_no_penalty_below_the_automatic_one_is_tried(before):
    counted = Counted(power(90, 1.0))
    assert _few_weights(ENTRY, 2.0, MOST, counted, before) == 2.0
    assert min(counted.asked) == 2.0


def test_few_features_are_not_searched():
    counted = Counted(lambda mu: 7)
    assert _few_weights(ENTRY[-9:], 2.0, MOST, counted, None) == 2.0
    assert counted.asked == [2.0]


@pytest.mark.parametrize("count", [lambda mu: 400, lambda mu: 50, lambda mu: 400 if np.isfinite(mu) else 0])
@pytest.mark.parametrize("entry", [ENTRY, np.full(401, np.nan), ENTRY * 1e300, ENTRY * 1e-300])
def test_a_search_ends_whatever_it_is_told(count, entry):
    """Products of huge numbers overflow, and weights that are not numbers are not zero."""
    counted = Counted(count)
    with np.errstate(all="ignore"):
        _few_weights(entry, 0.1 * entry.max(), MOST, counted, None)
    assert len(counted.asked) <= _TRIALS
