"""Long work: what it reports, and what it keeps for a later run."""

import json

import numpy as np
import pytest

import scca.progress._work as module
from scca.progress import (
    Checkpoint,
    CheckpointError,
    CheckpointWarning,
    Stage,
    from_checkpoint,
    long_work,
    part_of,
    preview,
    previewed,
    report,
    text_array,
    texts_of,
)

DESCRIPTION = {"pairs": ["abc", 7], "settings": {"n_components": "3"}}


@pytest.fixture(autouse=True)
def every_step(monkeypatch):
    """However short it is."""
    monkeypatch.setattr(module, "_WORTH_STORING", 0.0)


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "m.scca.partial"


class Counting:
    """A step that counts how often it is computed."""

    def __init__(self, value=0.0):
        self.value, self.times = value, 0

    def __call__(self):
        self.times += 1
        return np.array([self.value])


def keep(name, compute):
    return from_checkpoint(name, compute, lambda value: {"value": value}, lambda stored: stored["value"])


def in_folder(folder, work, description=DESCRIPTION):
    with long_work(checkpoint=Checkpoint(folder, description)):
        return work()


def test_without_a_checkpoint_everything_is_computed():
    step = Counting()
    assert [keep("a", step), keep("a", step)] == [0.0, 0.0]
    assert step.times == 2


def test_a_later_run_takes_what_an_earlier_one_stored(folder):
    steps = [Counting(1.0), Counting(2.0)]

    def work():
        return [float(keep(name, step)[0]) for name, step in zip("ab", steps, strict=True)]

    assert in_folder(folder, work) == in_folder(folder, work) == [1.0, 2.0]
    assert [step.times for step in steps] == [1, 1]


def test_short_steps_are_not_stored(folder, monkeypatch):
    monkeypatch.setattr(module, "_WORTH_STORING", 60.0)
    in_folder(folder, lambda: keep("a", Counting()))
    assert not folder.exists()


def test_a_step_replaces_the_steps_that_it_consists_of(folder):
    def outer():
        return keep("inner", Counting(1.0)) + keep("inner", Counting(2.0))

    def broken():
        outer()
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        in_folder(folder, lambda: keep("outer", broken))
    assert sorted(file.name for file in folder.iterdir()) == [
        "checkpoint.json",
        "outer..inner-2.npz",
        "outer..inner.npz",
    ]
    assert in_folder(folder, lambda: keep("outer", outer)) == [3.0]
    assert sorted(file.name for file in folder.iterdir()) == ["checkpoint.json", "outer.npz"]


def test_steps_of_the_same_name_are_told_apart(folder):
    def work():
        return [float(keep("a", Counting(value))[0]) for value in (1.0, 2.0, 3.0)]

    assert in_folder(folder, work) == in_folder(folder, work) == [1.0, 2.0, 3.0]


@pytest.mark.parametrize(
    ("changed", "what"), [({"pairs": ["abd", 7]}, "pairs"), ({"pairs": 1, "settings": 2}, "pairs and settings")]
)
def test_other_work_is_refused_and_leaves_the_checkpoint(folder, changed, what):
    in_folder(folder, lambda: keep("a", Counting()))
    before = {file.name: file.read_bytes() for file in folder.iterdir()}
    with pytest.raises(CheckpointError, match=f"has the beginning of a fit with other {what}: repeat that command"):
        Checkpoint(folder, DESCRIPTION | changed)
    assert {file.name: file.read_bytes() for file in folder.iterdir()} == before


@pytest.mark.parametrize("content", [b"", b"{", b"[1]", b"\xff"])
def test_an_index_that_cannot_be_read_is_refused(folder, content):
    folder.mkdir()
    (folder / "checkpoint.json").write_bytes(content)
    with pytest.raises(CheckpointError, match=r"cannot be read as a checkpoint; delete it"):
        Checkpoint(folder, DESCRIPTION)


def test_a_folder_of_something_else_is_refused_and_kept(folder):
    folder.mkdir()
    (folder / "letter.txt").write_text("mine")
    with pytest.raises(CheckpointError, match="is not a checkpoint of scca; move it away"):
        Checkpoint(folder, DESCRIPTION)
    assert (folder / "letter.txt").read_text() == "mine"


@pytest.mark.parametrize(
    "damage", [lambda data: data[: len(data) // 2], lambda data: b"", lambda data: b"x" + data[1:]]
)
def test_a_damaged_step_is_computed_again(folder, damage):
    step = Counting(1.0)
    in_folder(folder, lambda: keep("a", step))
    file = folder / "a.npz"
    file.write_bytes(damage(file.read_bytes()))
    assert in_folder(folder, lambda: keep("a", step)) == [1.0]
    assert step.times == 2


def test_no_code_is_loaded(folder):
    in_folder(folder, lambda: keep("a", Counting()))
    np.savez(folder / "a.npz", value=np.array([{}], dtype=object))
    step = Counting(5.0)
    assert in_folder(folder, lambda: keep("a", step)) == [5.0]
    assert step.times == 1


def test_a_disk_that_is_full_stops_the_storing_not_the_work(folder, monkeypatch):
    def full(*args, **kwargs):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("scca.progress._checkpoint.np.savez", full)
    steps = [Counting(1.0), Counting(2.0)]
    with pytest.warns(CheckpointWarning, match="no further checkpoint is written to") as caught:
        found = in_folder(folder, lambda: [keep(name, step) for name, step in zip("ab", steps, strict=True)])
    assert [float(value[0]) for value in found] == [1.0, 2.0]
    assert len(caught) == 1


def test_removing_leaves_what_is_not_ours(folder):
    checkpoint = Checkpoint(folder, DESCRIPTION)
    checkpoint.remove()  # nothing there yet
    with long_work(checkpoint=checkpoint):
        keep("a", Counting())
    checkpoint.remove()
    assert not folder.exists()


def test_the_description_is_stored_as_it_is(folder):
    in_folder(folder, lambda: keep("a", Counting()))
    assert json.loads((folder / "checkpoint.json").read_text()) == DESCRIPTION


def test_texts_of_any_characters_come_back():
    texts = ["", "a\nb", "\ud800", "é" * 1000, "\0"]
    assert texts_of(text_array(texts)) == texts


def test_reports_say_what_they_are_part_of():
    seen = []
    with long_work(lambda *call: seen.append(call)):
        report("reading", 1, 4)
        with part_of("pairs left out"):
            report("factors", 2, 4)
        report("reading", 5, 4)  # an estimated total may have been too low
    report("nobody listens", 1, 1)
    assert seen == [("reading", 1, 4), ("pairs left out: factors", 2, 4), ("reading", 4, 4)]


def test_first_results_leave_the_checkpoint_as_it_is_without_them(folder):
    """So that a fit begun at a terminal goes on in a pipe: the next step of the same name is the first one stored."""
    first, step, seen = Counting(1.0), Counting(2.0), []

    def work():
        preview(lambda: [keep("a", first)])
        return keep("a", step)

    with previewed(lambda *results: seen.append(results)):
        assert in_folder(folder, work) == [2.0]
    assert seen == [([1.0],)]
    assert in_folder(folder, work) == [2.0]
    assert (first.times, step.times, len(seen)) == (1, 1, 1)


class TestStage:
    @staticmethod
    def reported(work):
        told = []
        with long_work(lambda *what: told.append(what)):
            work()
        assert all(total == 1.0 for _, _, total in told)
        assert [done for _, done, _ in told] == sorted(done for _, done, _ in told)
        return [(what, pytest.approx(done)) for what, done, _ in told]

    def test_what_its_steps_report_is_a_part_of_it(self):
        def work():
            stage = Stage("factors", 4.0)
            with stage.step(1.0):
                report("one thing", 5, 10)
            with stage.step(3.0):
                report("another", 1, 3)

        expected = [0.0, 0.125, 0.25, 0.25, 0.5, 1.0]
        assert self.reported(work) == [("factors", done) for done in expected]

    def test_within_a_step_of_another_is_a_part_of_that(self):
        def work():
            outer, inner = Stage("factors", 2.0), Stage("products", 10.0)
            with outer.step(1.0), inner.step(5.0):
                report("rows", 1, 2)
            report("rows", 1, 1)  # no longer in a step

        expected = [("factors", done) for done in (0.0, 0.0, 0.125, 0.25, 0.5)]
        assert self.reported(work) == [*expected, ("rows", 1.0)]

    def test_that_takes_longer_than_was_said_ends_at_its_end(self):
        def work():
            stage = Stage("factors", 2.0)
            for _ in range(3):
                with stage.step(1.0):
                    pass

        assert self.reported(work)[-1] == ("factors", 1.0)

    def test_that_fails_does_not_report_its_end(self):
        def work():
            with pytest.raises(KeyError), Stage("factors", 1.0).step(1.0):
                raise KeyError

        assert self.reported(work) == [("factors", 0.0)]
