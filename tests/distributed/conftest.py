import signal

import pytest
from blocks import many_pairs
from clusters import MANY

import scca.distributed._blocks as blocks
from scca.distributed import local_cluster


@pytest.fixture(scope="session")
def cluster():
    """The client of two workers, for tests that leave them as they are."""
    with local_cluster(2, memory_limit=0) as client:
        yield client


@pytest.fixture(scope="session")
def _breakable():
    with local_cluster(3, memory_limit=0) as client:
        yield client


@pytest.fixture
def breakable(_breakable):
    """The client of three workers, which start again if they end."""
    yield _breakable
    _breakable.wait_for_workers(3, timeout=120)


@pytest.fixture(autouse=True)
def few_are_many(monkeypatch):
    """Small data stay in their blocks."""
    many_pairs(monkeypatch, MANY)


@pytest.fixture(autouse=True)
def bounded():
    """No test waits forever."""

    def give_up(*_):
        pytest.fail("the test takes more than 5 minutes")

    before = signal.signal(signal.SIGALRM, give_up)
    signal.alarm(300)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture
def at_pass(monkeypatch):
    """Do something at a pass of a fit: once its arguments are "sent", or once its tasks are "submitted"."""
    moments = {"sent": "in_groups", "submitted": "results"}

    def arrange(number, moment, act):
        original, seen = getattr(blocks, moments[moment]), []

        def wrapped(*given, **settings):
            seen.append(1)
            if len(seen) == number:
                act()
            return original(*given, **settings)

        monkeypatch.setattr(blocks, moments[moment], wrapped)
        return seen

    return arrange
