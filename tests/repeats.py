"""How often a statistical test draws data: a few times in `make test`, often enough for power in `make test-all`."""

import pytest


def few_or_many(few, many):
    """The parameter `n_sets` of a test, on which its bounds depend."""
    return pytest.mark.parametrize("n_sets", [few, pytest.param(many, marks=pytest.mark.slow)])
