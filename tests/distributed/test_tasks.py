"""Many fits on a real cluster of two processes: the same bytes as here, whatever happens to the workers."""

import gc
import os
import pickle
import signal
import time
from dataclasses import astuple

import numpy as np
import pytest
from subprocesses import is_alive, start_program

from scca import DataWarning, KernelCCA, SparseCCA, SparseCCACV, datasets
from scca._checks import warn
from scca.factors.hold_out import held_out_correlations
from scca.inference import permutation_test, stability_selection
from scca.parallel import run_tasks
from scca.samples import Groups, Views, summed

pytest.importorskip("distributed")

from scca.distributed import ClusterError, local_cluster, scatter, tasks_on


@pytest.fixture(scope="module", autouse=True)
def nothing_of_others():
    """What tests of other files have left to the garbage collector is not taken for something left by these."""
    gc.collect()


@pytest.fixture(scope="module")
def views():
    return datasets.make_planted(60, 12, 10, n_factors=2, n_active=3, strength=2.0, random_state=0).views


def left_on(client):
    """Keys of tasks that the scheduler or the workers have; those of ended work disappear soon."""

    def of_scheduler(dask_scheduler):
        return [key for key in dask_scheduler.tasks if not key.startswith("Block")]

    def of_worker(dask_worker):
        return [key for key in (*dask_worker.data, *dask_worker.state.tasks) if not key.startswith("Block")]

    for _ in range(100):
        found = client.run_on_scheduler(of_scheduler), client.run(of_worker)
        if not found[0] and not any(found[1].values()):
            return None
        time.sleep(0.1)
    return found


def same_bytes(one, other):
    return pickle.dumps(one) == pickle.dumps(other)


class TestTheSameBytes:
    @pytest.mark.parametrize("model", [SparseCCA(2), KernelCCA(1)], ids=lambda model: type(model).__name__)
    def test_permutation_test(self, cluster, views, model):
        settings = {"n_permutations": 5, "cv": 3, "random_state": 0}
        here = permutation_test(model, *views, **settings)
        with tasks_on(cluster):
            there = permutation_test(model, *views, **settings, n_jobs=2)
        assert same_bytes(astuple(here), astuple(there))
        assert left_on(cluster) is None

    def test_a_function_of_the_users(self, cluster, views):
        here = permutation_test(KernelCCA(1), *views, n_permutations=3, statistic=lambda a, b: a @ b, random_state=0)
        with tasks_on(cluster):
            there = permutation_test(
                KernelCCA(1), *views, n_permutations=3, statistic=lambda a, b: a @ b, random_state=0
            )
        assert same_bytes(astuple(here), astuple(there))

    def test_stability_selection(self, cluster, views):
        here = stability_selection(SparseCCA(1), *views, n_subsamples=6, random_state=0)
        with tasks_on(cluster):
            there = stability_selection(SparseCCA(1), *views, n_subsamples=6, random_state=0)
        assert same_bytes(astuple(here), astuple(there))

    def test_cross_validation_and_its_held_out_folds(self, cluster, views):
        def fitted():
            return SparseCCACV(1, cv=3, mu_factors=(0.5, 1), ridge_factors=(1,), random_state=0).fit(*views)

        here = fitted()
        with tasks_on(cluster):
            there = fitted()
        for name, value in here.cv_results_.items():
            assert same_bytes(value, there.cv_results_[name]), name
        assert same_bytes(here.x_weights_, there.x_weights_)
        assert same_bytes(here.held_out_correlations_, there.held_out_correlations_)

    def test_held_out_folds(self, cluster, views):
        here = SparseCCA(2, random_state=0).fit(*views)
        with tasks_on(cluster):
            there = SparseCCA(2, random_state=0).fit(*views)
        assert same_bytes(here.held_out_correlations_, there.held_out_correlations_)

    def test_arrays_come_as_from_here(self, cluster):
        data = np.arange(7.0)

        def compute(number):
            assert data.flags.writeable
            return data.flags.aligned, data[number:]

        with tasks_on(cluster):
            found = run_tasks(compute, range(3), 3, "numbers")
        assert all(aligned and array.flags.writeable and array.flags.aligned for aligned, array in found)


class TestSamplesInBlocks:
    """Their folds cannot be sent as a whole, neither to a worker nor to another process here."""

    def test_are_summed_from_here(self, cluster, views):
        x, _ = scatter(cluster, *views)
        with tasks_on(cluster):
            found = run_tasks(lambda factor: factor * summed(np.sum, [x]), [1, 2], 2, "sums")
        np.testing.assert_allclose(found, views[0].sum() * np.array([1, 2]))

    def test_are_left_out_in_this_process(self, cluster, views):
        x, y = scatter(cluster, *views)
        seen = []

        def scores(blocks, train, test):
            seen.append(os.getpid())
            return [data.chosen(test)[:, :1] for data in blocks.data]

        blocks = Views((x, y), Groups.of(None, len(views[0])))
        held_out_correlations(scores, blocks, 1, 2, 2, np.random.RandomState(0), tested=False)
        assert set(seen) == {os.getpid()}


class TestTasks:
    def test_run_in_processes_of_the_cluster_and_in_order(self, cluster):
        with tasks_on(cluster):
            found = run_tasks(lambda number: (number, os.getpid()), range(40), 40, "numbers", n_jobs=1)
        assert [number for number, _ in found] == list(range(40))
        assert {pid for _, pid in found} == set(cluster.run(os.getpid).values())
        assert run_tasks(lambda _: os.getpid(), range(2), 2, "numbers") == [os.getpid()] * 2  # outside the context

    def test_none(self, cluster):
        with tasks_on(cluster):
            assert run_tasks(abs, [], 0, "numbers") == []

    def test_the_function_is_sent_once(self, cluster):
        class Counted:
            def __getstate__(self):
                packed.append(1)
                return {"data": 1}

        packed = []
        data = Counted()
        with tasks_on(cluster):
            run_tasks(lambda number: number if data else None, range(20), 20, "numbers")
        assert len(packed) == 1

    def test_are_drawn_as_workers_get_free(self, cluster):
        drawn = []

        def tasks():
            for i in range(50):
                drawn.append(i)
                yield i

        def stop(done, total):
            raise KeyError

        with tasks_on(cluster), pytest.raises(KeyError):
            run_tasks(abs, tasks(), 50, "numbers", progress=stop)
        assert len(drawn) < 10
        assert left_on(cluster) is None

    def test_large_ones(self, cluster):
        tasks = [np.full(50_000, i) for i in range(8)]
        with tasks_on(cluster):
            assert run_tasks(lambda task: int(task.sum()), tasks, 8, "arrays") == [50_000 * i for i in range(8)]
        assert left_on(cluster) is None

    def test_progress_comes_after_each_and_after_it_was_told_of(self, cluster):
        calls = []
        with tasks_on(cluster):
            run_tasks(
                abs, range(3), 3, "numbers", progress=lambda *of: calls.append(of), finished=lambda *_: calls.append(0)
            )
        assert calls == [0, (1, 3), 0, (2, 3), 0, (3, 3)]

    def test_nested_ones_run_in_sequence_and_blas_has_one_thread(self, cluster):
        def nested(number):
            from threadpoolctl import threadpool_info

            pids = run_tasks(lambda _: os.getpid(), range(3), 3, "tasks", n_jobs=2)
            threads = {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}
            return set(pids) == {os.getpid()}, threads

        with tasks_on(cluster):
            assert run_tasks(nested, range(4), 4, "tasks") == [(True, {1})] * 4

    def test_warnings_are_said_once_in_the_end(self, cluster):
        def warn_if_odd(number):
            if number % 2:
                warn(f"{number} is odd", DataWarning)

        with pytest.warns(DataWarning) as caught, tasks_on(cluster):
            run_tasks(warn_if_odd, range(7), 7, "numbers")
        assert [str(warning.message) for warning in caught] == ["in 3 of 7 numbers, the first time: 1 is odd"]
        assert caught[0].filename == __file__


class TestFailure:
    @pytest.mark.parametrize("error", [ValueError("of the user"), TimeoutError("its own"), OSError("no disk")])
    def test_errors_of_a_task_reach_the_user(self, cluster, error):
        def fail(number):
            if number == 3:
                raise error

        with tasks_on(cluster):
            with pytest.raises(type(error), match=str(error)):
                run_tasks(fail, range(9), 9, "numbers")
            assert left_on(cluster) is None
            assert run_tasks(abs, range(3), 3, "numbers") == [0, 1, 2]  # the next run is none the worse

    def test_of_a_fit(self, cluster, views):
        with tasks_on(cluster), pytest.raises(ValueError, match="statistic must give a finite number"):
            permutation_test(KernelCCA(1), *views, n_permutations=3, statistic=lambda a, b: np.nan)
        assert left_on(cluster) is None

    @pytest.mark.parametrize("error", [KeyboardInterrupt, KeyError])
    def test_of_the_callers_own_functions(self, cluster, error):
        def stop(done, total):
            raise error

        with tasks_on(cluster), pytest.raises(error):
            run_tasks(abs, range(30), 30, "numbers", progress=stop)
        assert left_on(cluster) is None

    def test_a_function_that_workers_cannot_load(self, cluster):
        class Here:
            def __reduce__(self):
                return __import__, ("no_such_module",)

        data = Here()
        with tasks_on(cluster), pytest.raises(ImportError, match="a worker cannot load .*; install there"):
            run_tasks(lambda _: data, range(3), 3, "numbers")
        assert left_on(cluster) is None

    def test_no_client(self):
        with pytest.raises(TypeError, match="client must be a distributed.Client .*; got 'tcp://"):
            tasks_on("tcp://127.0.0.1:8786")


def kill_once(marker):
    """The first process to come here ends, and the work has to be done again."""
    try:
        os.close(os.open(marker, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return
    os.kill(os.getpid(), signal.SIGKILL)


class TestLostWorkers:
    def test_what_one_did_is_done_again(self, breakable, tmp_path):
        marker = str(tmp_path / "killed")

        def compute(number):
            if number == 3:
                kill_once(marker)
            return number**2

        with tasks_on(breakable):
            assert run_tasks(compute, range(12), 12, "numbers") == [i**2 for i in range(12)]
            assert left_on(breakable) is None
        assert os.path.exists(marker)

    def test_the_function_is_sent_again_if_all_are_lost(self, tmp_path):
        marker = str(tmp_path / "killed")

        def compute(number):
            if number == 3:
                kill_once(marker)
            return number**2

        with local_cluster(1) as client, tasks_on(client):
            assert run_tasks(compute, range(12), 12, "numbers") == [i**2 for i in range(12)]
        assert os.path.exists(marker)

    def test_a_task_that_ends_every_worker_is_refused(self):
        import dask

        def end(number):
            os.kill(os.getpid(), signal.SIGKILL)

        with (
            dask.config.set({"distributed.scheduler.allowed-failures": 1}),
            local_cluster(1) as client,
            tasks_on(client),
            pytest.raises(ClusterError, match="lack of memory|lost"),
        ):
            run_tasks(end, range(2), 2, "numbers")

    def test_a_lost_scheduler(self):
        with local_cluster(1) as client, tasks_on(client):

            def close(done, total):
                client.cluster.close()

            with pytest.raises(ClusterError, match="is gone; start it"):
                run_tasks(abs, range(30), 30, "numbers", progress=close)


INTERRUPTED = """
import os, sys, time
from pathlib import Path
from scca.distributed import connect, tasks_on
from scca.parallel import run_tasks

folder = sys.argv[2]

def wait(number):
    (Path(folder) / str(number)).touch()
    time.sleep(1)

with connect(sys.argv[1]) as client, tasks_on(client):
    try:
        run_tasks(wait, range(100), 100, "numbers")
    except KeyboardInterrupt:
        print("interrupted")
        raise
"""


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGKILL])
def test_an_interrupted_client_leaves_nothing(cluster, tmp_path, end):
    process = start_program(INTERRUPTED, cluster.scheduler.address, tmp_path)
    while len(os.listdir(tmp_path)) < 2 and process.poll() is None:
        time.sleep(0.05)
    os.kill(process.pid, end)
    said, _ = process.communicate(timeout=60)
    assert said == ("interrupted\n" if end == signal.SIGINT else "")
    assert left_on(cluster) is None
    assert len(os.listdir(tmp_path)) < 10
    assert not is_alive(process.pid)
