"""BLAS threads: one inside, afterwards as many as before, whoever overlaps with whom."""

import pytest
from subprocesses import run_program

# in a process of its own, for conftest.py gives BLAS one thread in this one
START = """
import threading
import numpy as np, scca
from threadpoolctl import threadpool_info
from scca.parallel import blas_threads_for, one_blas_thread

def threads():
    return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}

rng = np.random.default_rng(0)
X = rng.normal(size=(40, 60))
K = X[:, :20] @ X[:, :20].T
scca.solve_component(X, K, 0)  # everything is loaded
assert threads() == {2}, threads()
"""


def run(program):
    run_program(START + program, OPENBLAS_NUM_THREADS="2", MKL_NUM_THREADS="2", OMP_NUM_THREADS="2")


def test_components_solved_at_once_leave_the_number_as_it_was():
    run(
        """
def solve(first):
    for k in range(first, 40, 2):
        scca.solve_component(X, K, k)

started = [threading.Thread(target=solve, args=(first,)) for first in range(12)]
for thread in started:
    thread.start()
for thread in started:
    thread.join()
assert threads() == {2}, threads()
"""
    )


@pytest.mark.parametrize("leaving", ["one, two", "two, one"])
def test_the_last_to_leave_restores_what_was_before_the_first(leaving):
    run(
        f"""
one, two = one_blas_thread(), one_blas_thread()
for context in (one, two):
    context.__enter__()
    assert threads() == {{1}}
first, last = {leaving}
first.__exit__(None, None, None)
assert threads() == {{1}}
last.__exit__(None, None, None)
assert threads() == {{2}}
"""
    )


def test_an_error_inside_restores_it_too():
    run(
        """
try:
    with one_blas_thread(), one_blas_thread():
        raise KeyError
except KeyError:
    pass
assert threads() == {2}
"""
    )


def test_small_problems_get_one_thread_and_large_ones_what_there_is():
    run(
        """
with blas_threads_for(100, 1000):
    assert threads() == {1}
with blas_threads_for(100, 10**9):
    assert threads() == {2}
    with blas_threads_for(100):
        assert threads() == {1}
    assert threads() == {2}
with one_blas_thread(), blas_threads_for(10**9):
    assert threads() == {1}  # a worker's limit holds for what it solves, however large
assert threads() == {2}
"""
    )


def test_a_child_can_enter_although_another_thread_of_its_parent_was_entering():
    run(
        """
import os
from scca.parallel import _tasks
_tasks._ONE_THREAD._lock.acquire()
child = os.fork()
if not child:
    with one_blas_thread():
        os._exit(0)
assert os.waitpid(child, 0)[1] == 0
"""
    )


def test_any_thread_may_be_the_first_to_enter_and_any_other_the_last_to_leave():
    """Even one that did not set the number before: threadpoolctl ignores all but one."""
    run(
        """
def elsewhere(function, *given):
    thread = threading.Thread(target=function, args=given)
    thread.start()
    thread.join()

with one_blas_thread():
    assert threads() == {1}
context = one_blas_thread()
elsewhere(context.__enter__)
assert threads() == {1}, threads()
context.__exit__(None, None, None)
assert threads() == {2}, threads()
context.__enter__()
elsewhere(context.__exit__, None, None, None)
assert threads() == {2}, threads()
"""
    )
