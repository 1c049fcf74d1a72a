"""Fits that are stopped by real signals, at any step, and continued by the same command."""

import signal
import subprocess
import sys

import pytest

from scca.datasets import load_trilingual

# every step is stored, and samples are treated as if they were many: weighted, and without stored scores
PROGRAM = """
import os, signal, sys, threading
import numpy as np
import scca.progress._checkpoint as checkpoint, scca.progress._work as work
import scca.factors.constants as constants, scca.factors.find as find, scca.factors.products as products
work._WORTH_STORING = 0.0
constants.WEIGHTED_SAMPLES = find._FEW = products._MOST_STORED = 0
constants.FULLY_WEIGHTED_SAMPLES = 1
last, sent, half = int(sys.argv.pop(1)), getattr(signal, sys.argv.pop(1)), sys.argv.pop(1) == "half"
written, begun, counting = 0, 0, threading.Lock()
store = np.savez
def halved(file, **arrays):
    global begun
    with counting:  # threads store at the same time, and exactly one of them stores the last step
        begun += 1
        is_last = begun == last
    if half and is_last:
        file.write(b"PK")
        file.flush()
        os.kill(os.getpid(), sent)  # stops the main thread here; another thread goes on, and writes the whole file
        file.seek(0)
    store(file, **arrays)
checkpoint.np = type("numpy", (), {**vars(np), "savez": staticmethod(halved)})
write = checkpoint.Checkpoint.write
def counted(self, name, arrays):
    global written
    write(self, name, arrays)
    with counting:  # what is counted is stored: a signal may end other threads in the middle of a step
        written += 1
        if written == last and not half:
            os.kill(os.getpid(), sent)
checkpoint.Checkpoint.write = counted
import atexit
atexit.register(lambda: print("written", written))
from scca.cli import main
main()
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("corpus")
    corpus = load_trilingual()
    for language in ("en", "fr"):
        (folder / f"a.{language}").write_text("\n".join(getattr(corpus, language)[:40]) + "\n", encoding="utf-8")
    return folder


def fit(folder, output, stop_after=0, sent="SIGKILL", half=False, options=("--components", "3")):
    command = [sys.executable, "-c", PROGRAM, stop_after, sent, "half" if half else "whole"]
    command += ["fit", folder / "a.en", folder / "a.fr", "-o", output, *options]
    return subprocess.run(
        [str(part) for part in command],
        capture_output=True,
        text=True,
        timeout=300,
        # a shell that runs the tests in the background lets its children ignore Ctrl-C
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )


def steps_written(done):
    return int(done.stdout.strip().splitlines()[-1].removeprefix("written "))


FACTORS, PAPER = ("--components", "3"), ("--components", "3", "--paper")


@pytest.fixture(scope="module")
def whole(request, folder, tmp_path_factory):
    """A fit that nothing stops: its options, its model and how many steps it stores."""
    output = tmp_path_factory.mktemp("whole") / "m.scca"
    done = fit(folder, output, options=request.param)
    assert done.returncode == 0, done.stderr
    assert not output.with_name("m.scca.partial").exists()
    return request.param, output.read_bytes(), steps_written(done)


@pytest.mark.parametrize(
    ("whole", "share", "sent", "half"),
    [
        (FACTORS, 0.1, "SIGKILL", False),
        (FACTORS, 0.6, "SIGTERM", True),
        pytest.param(FACTORS, 0.9, "SIGINT", False, marks=pytest.mark.slow),
        pytest.param(PAPER, 0.1, "SIGKILL", False, marks=pytest.mark.slow),
        pytest.param(PAPER, 0.6, "SIGTERM", True, marks=pytest.mark.slow),
        (PAPER, 0.9, "SIGINT", False),
    ],
    indirect=["whole"],
)
def test_a_fit_that_is_stopped_goes_on_where_it_was(folder, whole, tmp_path, share, sent, half):
    options, model, n_steps = whole
    last, output = max(1, round(share * n_steps)), tmp_path / "m.scca"
    output.write_bytes(b"old")
    stopped = fit(folder, output, last, sent, half, options)
    assert stopped.returncode == {"SIGKILL": -9, "SIGTERM": 143, "SIGINT": 130}[sent]
    if sent != "SIGKILL":
        what = "interrupted" if sent == "SIGINT" else "terminated"
        assert stopped.stderr.endswith(f"scca: {what}; the same command goes on from {output}.partial.\n")
    assert output.read_bytes() == b"old"
    done = fit(folder, output, options=options)
    assert done.returncode == 0, done.stderr
    assert f"scca: going on from {output}.partial" in done.stderr
    # the step that was half-written is computed again; other threads have finished what they were at
    assert steps_written(done) <= n_steps - last + half
    assert output.read_bytes() == model
    assert [file.name for file in tmp_path.iterdir()] == ["m.scca"]


@pytest.mark.parametrize(("sent", "what", "status"), [("SIGTERM", "terminated", 143), ("SIGINT", "interrupted", 130)])
def test_a_fit_that_has_stored_nothing_does_not_speak_of_going_on(folder, tmp_path, sent, what, status):
    stopped = fit(folder, tmp_path / "m.scca", 1, sent, half=True)
    assert (stopped.returncode, stopped.stderr) == (status, f"scca: {what}; no file is left half-written.\n")


def test_a_checkpoint_of_another_fit_is_refused(folder, tmp_path):
    output = tmp_path / "m.scca"
    assert fit(folder, output, 2).returncode == -signal.SIGKILL
    before = {file.name: file.read_bytes() for file in (tmp_path / "m.scca.partial").iterdir()}
    other = fit(folder, output, options=("--components", "4"))
    assert other.returncode == 1
    assert other.stderr.strip().splitlines()[-1] == (
        f"scca: {output}.partial has the beginning of a fit with other settings: repeat that command to finish it, or "
        "delete the folder to start afresh."
    )
    assert {file.name: file.read_bytes() for file in (tmp_path / "m.scca.partial").iterdir()} == before
