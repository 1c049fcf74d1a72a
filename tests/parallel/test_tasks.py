"""Many tasks: in order, for any number of jobs, counted, and stopped with nothing left running."""

import os
import signal
import threading
import time
import warnings

import joblib
import numpy as np
import pytest
from subprocesses import is_alive, run_program, start_program
from threadpoolctl import threadpool_info

import scca.parallel._tasks as working
from scca import DataWarning
from scca._checks import warn
from scca.parallel import check_n_jobs, map_threads, run_tasks
from scca.progress import long_work, report

BACKENDS = ["loky", "threading"]


def square(number):
    return number**2


def warn_if_odd(number):
    if number % 2:
        warn(f"{number} is odd", DataWarning)
        warn(f"{number} is odd again", DataWarning)
    return number


def blas_threads(_):
    return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]


class TestResults:
    @pytest.mark.parametrize("backend", BACKENDS)
    @pytest.mark.parametrize("n_jobs", [None, 1, 2, 3, -1])
    def test_are_in_the_order_of_the_tasks(self, backend, n_jobs):
        with joblib.parallel_config(backend=backend):
            assert run_tasks(square, range(20), 20, "numbers", n_jobs=n_jobs) == [i**2 for i in range(20)]

    def test_are_in_their_order_even_if_the_first_ends_last(self):
        rest_done = threading.Barrier(2)

        def first_waits(number):
            if number in (0, 5):
                rest_done.wait()
            return number

        seen = []
        with joblib.parallel_config(backend="threading"):
            done = run_tasks(first_waits, range(6), 6, "n", n_jobs=2, finished=lambda *given: seen.append(given))
        assert done == list(range(6))
        assert sorted(seen) == [(i, i) for i in range(6)]
        assert seen[0] == (1, 1)  # told of the moment it was done

    def test_no_tasks(self):
        assert run_tasks(square, [], 0, "numbers", n_jobs=2) == []

    def test_tasks_are_drawn_as_workers_get_free(self):
        drawn = []

        def tasks():
            for i in range(50):
                drawn.append(i)
                yield i

        def stop(done, total):
            raise KeyError

        with pytest.raises(KeyError):
            run_tasks(square, tasks(), 50, "numbers", progress=stop)
        assert len(drawn) < 50

    def test_progress_comes_after_each_and_after_it_was_told_of(self):
        calls = []
        run_tasks(
            square,
            range(3),
            3,
            "numbers",
            progress=lambda *counts: calls.append(counts),
            finished=lambda position, result: calls.append(result),
        )
        assert calls == [0, (1, 3), 1, (2, 3), 4, (3, 3)]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_blas_has_one_thread_in_every_task(backend, n_jobs):
    with joblib.parallel_config(backend=backend):
        for threads in run_tasks(blas_threads, range(4), 4, "tasks", n_jobs=n_jobs):
            assert set(threads) == {1}


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_warnings_are_said_once_in_the_end(backend, n_jobs):
    with pytest.warns(DataWarning) as caught, joblib.parallel_config(backend=backend):
        run_tasks(warn_if_odd, range(7), 7, "numbers", n_jobs=n_jobs)
    assert [str(warning.message) for warning in caught] == ["in 3 of 7 numbers, the first time: 1 is odd"]
    assert caught[0].filename == __file__


class TestNumberOfJobs:
    @pytest.mark.parametrize("value", [0, 1.5, "2", True, False, [2]])
    def test_refused(self, value):
        with pytest.raises(ValueError, match="n_jobs must be None or an integer other than 0; .*: 1 is sequential, -1"):
            run_tasks(square, range(2), 2, "numbers", n_jobs=value)

    def test_taken(self):
        assert [check_n_jobs(value) for value in (None, 1, -2, np.int32(3))] == [None, 1, -2, 3]
        with pytest.raises(ValueError, match="^jobs must be"):
            check_n_jobs(0, "jobs")


class TestFailure:
    @pytest.mark.parametrize("backend", BACKENDS)
    @pytest.mark.parametrize("n_jobs", [1, 2])
    def test_errors_of_a_task_go_on_to_the_caller(self, backend, n_jobs):
        with joblib.parallel_config(backend=backend), pytest.raises(ZeroDivisionError):
            run_tasks(fail_at_three, range(9), 9, "numbers", n_jobs=n_jobs)
        with joblib.parallel_config(backend=backend):  # and the next run is none the worse
            assert run_tasks(square, range(3), 3, "numbers", n_jobs=n_jobs) == [0, 1, 4]

    @pytest.mark.parametrize("backend", BACKENDS)
    @pytest.mark.parametrize("n_jobs", [1, 2])
    @pytest.mark.parametrize("error", [KeyboardInterrupt, KeyError])
    def test_errors_of_the_callers_own_functions_too_and_without_a_word(self, backend, n_jobs, error):
        def stop(done, total):
            raise error

        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with joblib.parallel_config(backend=backend), pytest.raises(error):
                run_tasks(square, range(9), 9, "numbers", n_jobs=n_jobs, progress=stop)

    def test_threads_have_done_the_task_they_were_at_and_begin_no_other(self):
        begun, ended = [], []
        both_at_work = threading.Barrier(2)
        failed = threading.Event()

        def work(number):
            begun.append(number)
            if number < 2:
                both_at_work.wait()
            if number == 0:
                raise KeyError
            failed.wait(0.2)  # longer than the caller takes to hear of the failure
            ended.append(number)

        with joblib.parallel_config(backend="threading"), pytest.raises(KeyError):
            run_tasks(work, range(1000), 1000, "numbers", n_jobs=2)
        assert len(ended) == len(begun) - 1  # all but the one that failed
        count = len(begun)
        time.sleep(0.3)
        assert len(begun) == count < 1000


class TestInThreads:
    """Of this process, where no others are asked for."""

    @pytest.fixture(autouse=True, params=[1, 3])
    def n_cores(self, request, monkeypatch):
        monkeypatch.setattr(working, "_N_CORES", request.param)
        working._pool.cache_clear()
        yield request.param
        working._pool.cache_clear()

    def test_results_are_in_order_and_each_is_told_of(self):
        seen = []
        done = run_tasks(square, range(9), 9, "n", in_threads=True, finished=lambda *given: seen.append(given))
        assert done == [i**2 for i in range(9)]
        assert sorted(seen) == [(i, i**2) for i in range(9)]

    def test_tasks_are_done_side_by_side_and_their_own_parts_one_by_one(self, n_cores):
        both = threading.Barrier(min(n_cores, 2))
        own = []

        def work(number):
            both.wait()
            own.append({*map_threads(lambda part: threading.current_thread(), range(3)), threading.current_thread()})

        run_tasks(work, range(2), 2, "numbers", in_threads=True)
        assert [len(threads) for threads in own] == [1, 1]
        assert len(set.union(*own)) == min(n_cores, 2)

    def test_each_sees_the_context_of_the_caller(self):
        reported = []
        with long_work(lambda *given: reported.append(given)):
            run_tasks(lambda number: report("work", number, 3), range(3), 3, "numbers", in_threads=True)
        assert sorted(reported) == [("work", number, 3) for number in range(3)]

    def test_blas_has_one_thread(self):
        for threads in run_tasks(blas_threads, range(4), 4, "tasks", in_threads=True):
            assert set(threads) == {1}

    def test_warnings_are_said_once(self):
        with pytest.warns(DataWarning) as caught:
            run_tasks(warn_if_odd, range(7), 7, "numbers", in_threads=True)
        assert [str(warning.message) for warning in caught] == ["in 3 of 7 numbers, the first time: 1 is odd"]
        assert caught[0].filename == __file__

    def test_after_an_error_no_other_begins(self):
        begun = []

        def work(number):
            begun.append(number)
            time.sleep(0.01)
            return fail_at_three(number)

        with pytest.raises(ZeroDivisionError):
            run_tasks(work, range(1000), 1000, "numbers", in_threads=True)
        count = len(begun)
        time.sleep(0.05)
        assert len(begun) == count < 1000

    def test_other_processes_are_used_if_asked_for(self):
        assert os.getpid() not in run_tasks(_process, range(3), 3, "tasks", n_jobs=2, in_threads=True)
        with joblib.parallel_config(n_jobs=2):
            assert os.getpid() not in run_tasks(_process, range(3), 3, "tasks", in_threads=True)


def _process(_):
    return os.getpid()


def fail_at_three(number):
    return 1 / (number - 3)


SLOW = """
import os, sys, time
from pathlib import Path
from scca import KernelCCA, SparseCCACV, datasets
from scca.inference import permutation_test, stability_selection

def wait(*scores):
    (Path(sys.argv[1]) / str(os.getpid())).touch()
    time.sleep(600)

class Slow(SparseCCACV):
    def fit(self, X, Y):
        if len(X) < 20:
            wait()
        return super().fit(X, Y)

X, Y = datasets.make_planted(20, 6, 5, n_factors=1, n_active=2, random_state=0).views
calls = {
    "permutation": lambda: permutation_test(KernelCCA(1), X, Y, statistic=wait, n_jobs=2),
    "stability": lambda: stability_selection(Slow(1, cv=2, mu_factors=[1]), X, Y, n_jobs=2),
    "cross-validation": lambda: SparseCCACV(1, scoring=wait, n_jobs=2).fit(X, Y),
}
try:
    calls[sys.argv[2]]()
except KeyboardInterrupt:
    print("interrupted")
    raise
"""


@pytest.mark.parametrize(
    ("call", "to"),
    [
        ("stability", "its group"),
        ("cross-validation", "the process"),
        pytest.param("permutation", "its group", marks=pytest.mark.slow),
        pytest.param("permutation", "the process", marks=pytest.mark.slow),
    ],
)
def test_ctrl_c_ends_the_workers_and_goes_on_to_the_caller(call, to, tmp_path):
    """A terminal sends it to the whole group, `kill -INT` to the process alone."""
    process = start_program(SLOW, tmp_path, call)
    while len(os.listdir(tmp_path)) < 2 and process.poll() is None:
        time.sleep(0.05)
    workers = [int(name) for name in os.listdir(tmp_path)]
    assert len(workers) == 2
    assert process.pid not in workers
    (os.kill if to == "the process" else os.killpg)(process.pid, signal.SIGINT)
    said, errors = process.communicate(timeout=120)  # the tasks would take longer
    assert said == "interrupted\n"
    assert process.returncode == -signal.SIGINT
    assert errors.count("Traceback") == 1
    assert "\nKeyboardInterrupt\n" in errors
    assert not any(map(is_alive, workers))


def test_a_backend_that_gives_all_at_the_end_is_refused():
    with (
        joblib.parallel_config(backend="multiprocessing", n_jobs=2),
        pytest.raises(ValueError, match="cannot return results as they finish; use loky or threading"),
    ):
        run_tasks(abs, range(3), 3, "numbers")


def test_threads_that_overlap_leave_the_users_warnings_alone():
    """Each task ends when the next has begun: whoever swaps and restores what it found may restore what another set."""
    program = """
import itertools, threading, warnings
import joblib, numpy as np
from scca import KernelCCA
from scca.inference import permutation_test

N = 7  # tasks
number, begun = itertools.count(), [threading.Event() for _ in range(N + 1)]
begun[N].set()
own = warnings.filters, list(warnings.filters), warnings.showwarning

def untouched():
    return warnings.filters is own[0] and warnings.filters == own[1] and warnings.showwarning is own[2]

def overlap(a, b):
    mine = next(number)
    begun[mine].set()
    begun[mine + 1].wait()
    assert untouched(), "meanwhile"
    return 0.0

X, Y = np.random.default_rng(0).standard_normal((2, 20, 4))
with joblib.parallel_backend("threading"):
    permutation_test(KernelCCA(1), X, Y, n_permutations=N - 1, cv=None, statistic=overlap, n_jobs=3)
assert untouched(), "afterwards"
warnings.warn("still heard")
"""
    assert "still heard" in run_program(program).stderr
