"""What long commands say about how far they are."""

import io
import sys

import pytest
from rich.console import Console

from scca.cli._progress import Estimate, bars, duration, lines
from scca.cli._terminal import Terminal


class Clock:
    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.2, "1 s"), (59, "59 s"), (89, "89 s"), (90, "2 min"), (3600, "60 min"), (9000, "2 h")]
)
def test_durations_in_words(seconds, text):
    assert duration(seconds) == text


class TestEstimate:
    def test_the_rest_takes_as_long_as_what_is_done(self, clock):
        estimate = Estimate(clock)
        estimate.take("reading", 0, 200)
        assert estimate.remaining is None
        clock.now += 10
        estimate.take("reading", 50, 200)
        assert estimate.remaining == pytest.approx(30)

    def test_what_an_earlier_run_did_is_not_counted(self, clock):
        estimate = Estimate(clock)
        estimate.take("factors", 60, 100)
        clock.now += 10
        estimate.take("factors", 80, 100)
        assert estimate.remaining == pytest.approx(10)

    def test_every_stage_has_its_own(self, clock):
        estimate = Estimate(clock)
        estimate.take("reading", 0, 1)
        clock.now += 1000
        estimate.take("factors", 0, 1)
        clock.now += 2
        estimate.take("factors", 0.5, 1)
        assert estimate.remaining == pytest.approx(2)

    def test_the_same_stage_may_come_again(self, clock):
        """As in one fold after another."""
        estimate = Estimate(clock)
        estimate.take("factors", 0.5, 1)
        clock.now += 1000
        estimate.take("factors", 0, 1)
        clock.now += 2
        estimate.take("factors", 0.5, 1)
        assert estimate.remaining == pytest.approx(2)

    def test_nothing_to_do_is_done(self, clock):
        estimate = Estimate(clock)
        estimate.take("reading", 0, 0)
        assert estimate.done == 1
        assert str(estimate) == ""


def test_in_a_pipe_a_line_now_and_then(clock):
    said = []
    with lines(said.append, clock) as report:
        for done in range(101):
            report("reading en", done, 100)
            clock.now += 1
    assert said == [
        "scca: reading en: 10%, about 2 min left",
        "scca: reading en: 40%, about 60 s left",
        "scca: reading en: 70%, about 30 s left",
        "scca: reading en: 100%",
    ]


def test_a_short_command_says_nothing(clock):
    said = []
    with lines(said.append, clock) as report:
        report("reading en", 1, 1)
    assert said == []


def test_on_a_terminal_a_bar_that_is_gone_at_the_end():
    console = Console(file=io.StringIO(), force_terminal=True, width=100)
    with bars(console) as report:
        report("reading en", 1, 4)
        report("pairs left out: factors", 2, 4)
    assert "pairs left out: factors" in console.file.getvalue()
    assert console.file.getvalue().rstrip().endswith("\x1b[2K")


@pytest.mark.parametrize(
    ("is_terminal", "quiet", "shown"), [(True, False, True), (True, True, False), (False, False, False)]
)
def test_first_results_are_for_those_who_wait_at_a_terminal(monkeypatch, is_terminal, quiet, shown):
    stream = io.StringIO()
    stream.isatty = lambda: is_terminal
    monkeypatch.setattr(sys, "stderr", stream)
    terminal = Terminal(quiet)
    assert terminal.is_watched == shown
    terminal.preview([(["judge", "trial"], ["juge", "procès"]), (["goal"], [])])
    assert stream.getvalue().splitlines() == [
        "The first components, not yet tried on pairs left out:",
        "  judge, trial  |  juge, procès",
        "  goal  |  ",
    ]
