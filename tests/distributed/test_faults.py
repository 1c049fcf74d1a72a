"""Workers that end, leave, join or run out of memory; a scheduler that goes away; a client that is interrupted."""

import os
import signal
import threading
from functools import partial

import dask
import numpy as np
import pytest
from clusters import (
    assert_same,
    beside_the_rest,
    column_sums,
    eventually,
    executing,
    failing,
    keys_of,
    kill_all_workers,
    kill_worker,
    machines,
    memory_hungry,
    model,
    out_of_memory,
    paused,
    planted_pair,
    running,
    slow_sum,
    wait_for,
)
from distributed import Event
from subprocesses import start_program

import scca.distributed._blocks as blocks
import scca.distributed._cluster as cluster_module
import scca.distributed._packing as packing
from scca.distributed import ClusterError, connect, local_cluster, read_rows, rows_of, scatter
from scca.distributed._cluster import LostError, _is_idle, attempted, results, workers_of
from scca.progress import Checkpoint
from scca.samples import summed, unique

MOMENTS = ["sent", "submitted"]


@pytest.fixture(scope="module")
def pair():
    return planted_pair()


@pytest.fixture(scope="module")
def undisturbed(pair):
    from blocks import many_pairs

    with pytest.MonkeyPatch.context() as patched:
        many_pairs(patched, 10**6)
        return model().fit(*pair)


@pytest.fixture(params=["scattered", pytest.param("from files", marks=pytest.mark.slow)])
def source(request, pair, tmp_path):
    """A function from a client to views in blocks."""
    if request.param == "scattered":
        return lambda client: scatter(client, *pair, n_blocks=5)
    files = [str(tmp_path / f"{name}.npy") for name in "xy"]
    for file, view in zip(files, pair, strict=True):
        np.save(file, view)
    return lambda client: read_rows(client, *files, n_blocks=5)


SOURCES = pytest.mark.parametrize("source", ["scattered", "from files"], indirect=True)


@pytest.fixture(params=[1 << 16, 0], ids=["arguments in the graph", "arguments sent beforehand"])
def arguments(request, monkeypatch):
    monkeypatch.setattr(packing, "_MOST_BYTES_IN_TASK", request.param)


class TestAWorkerKilled:
    @pytest.mark.parametrize(
        ("source", "moment"),
        [
            ("scattered", "sent"),
            ("from files", "submitted"),
            pytest.param("scattered", "submitted", marks=pytest.mark.slow),
            pytest.param("from files", "sent", marks=pytest.mark.slow),
        ],
        indirect=["source"],
    )
    def test_in_mid_fit_changes_nothing(self, breakable, source, undisturbed, at_pass, moment):
        at_pass(20, moment, lambda: kill_worker(breakable))
        assert_same(model().fit(*source(breakable)), undisturbed)

    def test_during_a_task_has_its_work_done_elsewhere(self, breakable, pair, at_pass):
        """The others, too, may have finished by then."""
        X, _ = scatter(breakable, *pair, n_blocks=3)
        killer = threading.Timer(1.0, kill_worker, (breakable,))
        killer.start()
        found = summed(slow_sum, [X], 2.0)
        killer.join()
        np.testing.assert_allclose(found, pair[0].sum(axis=0), atol=1e-9)

    def test_with_all_others_changes_nothing(self, breakable, source, undisturbed, at_pass):
        at_pass(20, "submitted", lambda: kill_all_workers(breakable))
        assert_same(model().fit(*source(breakable)), undisturbed)

    @pytest.mark.parametrize("arguments", [pytest.param(1 << 16, marks=pytest.mark.slow), 0], indirect=True)
    def test_again_and_again_changes_nothing(self, breakable, pair, undisturbed, at_pass, arguments):
        for number in (5, 15, 25):
            at_pass(number, "submitted", lambda: kill_worker(breakable))
        assert_same(model().fit(*scatter(breakable, *pair, n_blocks=5)), undisturbed)

    def test_while_data_are_sent_changes_nothing(self, breakable, pair, undisturbed, monkeypatch):
        import scca.distributed._rows as rows

        sent, original = [], rows.scattered

        def wrapped(client, *given):
            sent.append(1)
            if len(sent) == 3:
                kill_worker(client)
            return original(client, *given)

        monkeypatch.setattr(rows, "scattered", wrapped)
        assert_same(model().fit(*scatter(breakable, *pair, n_blocks=5)), undisturbed)

    def test_for_good_leaves_the_work_to_the_others(self, tmp_path, source, undisturbed, at_pass):
        with machines(tmp_path / "machines", 2) as started, connect(started.address, timeout=120) as client:
            client.wait_for_workers(2, timeout=120)
            at_pass(20, "submitted", started.workers[0].kill)
            assert_same(model().fit(*source(client)), undisturbed)
            assert len(workers_of(client)) == 1

    def test_with_data_that_nobody_has_is_an_error_in_one_sentence(self, breakable, pair, at_pass):
        """Futures of the user cannot be computed again."""
        given = [breakable.scatter(tuple(view[i::2] for view in pair), hash=False) for i in range(2)]
        X, _ = rows_of(breakable, [breakable.submit(tuple, part) for part in given])
        kill_all_workers(breakable)
        with pytest.raises(ClusterError, match="workers were lost, and what they kept, 5 times in a row"):
            while True:  # until the scheduler has noticed
                summed(column_sums, [X])


class TestAWorkerThat:
    def test_retires_hands_its_blocks_over(self, source, undisturbed, at_pass):
        with local_cluster(2, memory_limit=0) as client:
            leaving = min(workers_of(client))
            at_pass(20, "submitted", lambda: client.retire_workers([leaving]))
            assert_same(model().fit(*source(client)), undisturbed)
            assert leaving not in workers_of(client)

    def test_joins_takes_blocks_over(self, source, undisturbed, at_pass):
        with local_cluster(1, memory_limit=0) as client:

            def join():
                client.cluster.scale(2)
                client.wait_for_workers(2, timeout=120)

            at_pass(20, "submitted", join)
            X, Y = source(client)
            assert_same(model().fit(X, Y), undisturbed)
            holders = {worker for keys in client.who_has(X.remote._kept.futures).values() for worker in keys}
            assert holders == set(workers_of(client))
            assert len(holders) == 2

    def test_is_paused_leaves_its_blocks_to_others(self, breakable, source, undisturbed, at_pass):
        full = min(workers_of(breakable))
        at_pass(20, "sent", lambda: breakable.run(paused, workers=[full]))
        try:
            assert_same(model().fit(*source(breakable)), undisturbed)
        finally:
            breakable.run(running, workers=[full])


@pytest.fixture
def impatient(monkeypatch):
    monkeypatch.setattr(cluster_module, "_PATIENCE", 1.0)
    monkeypatch.setattr(cluster_module, "_CHECK_EVERY", 0.2)


class TestTooLittleMemory:
    def test_of_a_worker_that_is_ended_for_it_is_an_error_in_one_sentence(self, source, monkeypatch):
        monkeypatch.setattr(blocks, "attempted", partial(attempted, tries=2))
        with (
            dask.config.set({"distributed.scheduler.allowed-failures": 1}),
            local_cluster(1, memory_limit="900MB") as client,
        ):
            X, _ = source(client)
            with pytest.raises(ClusterError, match="times .*, most likely for lack of memory; give them more memory"):
                summed(memory_hungry, [X])

    def test_that_a_task_complains_about_is_an_error_in_one_sentence(self, cluster, pair):
        X, _ = scatter(cluster, *pair)
        with pytest.raises(ClusterError, match="a worker has too little memory .Unable to allocate 10.0 GiB.; give"):
            summed(out_of_memory, [X])

    @pytest.mark.parametrize("moment", MOMENTS)
    @pytest.mark.usefixtures("impatient", "arguments")
    def test_of_all_workers_is_an_error_once_patience_ends(self, breakable, pair, at_pass, moment):
        at_pass(20, moment, lambda: breakable.run(paused))
        try:
            with pytest.raises(ClusterError, match="no worker .* taken a task for 1 s: all are gone, or paused"):
                model().fit(*scatter(breakable, *pair))
        finally:
            breakable.run(running)

    @pytest.mark.usefixtures("arguments")
    def test_that_passes_is_waited_for(self, breakable, pair, undisturbed, at_pass, monkeypatch):
        monkeypatch.setattr(cluster_module, "_CHECK_EVERY", 0.2)

        def pause():
            breakable.run(paused)
            threading.Timer(1.0, breakable.run, (running,)).start()

        at_pass(20, "submitted", pause)
        assert_same(model().fit(*scatter(breakable, *pair)), undisturbed)

    def test_is_not_suspected_of_a_paused_worker_that_computes(self, breakable):
        """It ends what it has begun."""
        eventually(lambda: _is_idle(breakable))
        event = Event(unique(), client=breakable)
        future = breakable.submit(wait_for, event.name, pure=False)
        eventually(lambda: executing(breakable))
        breakable.run(paused)
        try:
            eventually(lambda: not workers_of(breakable))
            assert not _is_idle(breakable)
            event.set()
            assert results(breakable, [future]) == [True]
            eventually(lambda: _is_idle(breakable))
        finally:
            breakable.run(running)


class TestTheSchedulerGone:
    def test_is_an_error_in_one_sentence_and_the_next_fit_goes_on(
        self, tmp_path, pair, undisturbed, at_pass, monkeypatch
    ):
        import scca.progress._work as work

        monkeypatch.setattr(work, "_WORTH_STORING", 0.0)
        folder = tmp_path / "m.partial"
        with machines(tmp_path / "first", 2) as started:
            client = connect(started.address, timeout=120)
            try:
                X, Y = scatter(client, *pair)
                seen = at_pass(30, "submitted", started.scheduler.kill)
                with pytest.raises(ClusterError, match="the scheduler at tcp.* is gone; start it .* last checkpoint"):
                    model().fit_with_progress(X, Y, checkpoint=Checkpoint(folder, {}))
                with pytest.raises(ClusterError, match="the scheduler at tcp.* is gone"):
                    model().fit(X, Y)  # and every further attempt
            finally:
                client.close(timeout=1)
        assert any(folder.glob("*.npz"))
        with machines(tmp_path / "second", 1) as started, connect(started.address, timeout=120) as client:
            done = len(seen)
            found = model().fit_with_progress(*scatter(client, *pair), checkpoint=Checkpoint(folder, {}))
            assert_same(found, undisturbed)
            again = len(seen) - done
            model().fit(*scatter(client, *pair))
            assert again < len(seen) - done - again  # fewer passes than a fit from the start

    def test_from_the_start(self):
        with pytest.raises(ClusterError, match="there is no scheduler at tcp://127.0.0.1:1 .*; start one, for example"):
            connect("tcp://127.0.0.1:1", timeout=2)

    def test_without_workers(self, tmp_path):
        with (
            machines(tmp_path / "machines", 0) as started,
            pytest.raises(ClusterError, match=f"{started.address} has no worker after 1 s; start some"),
        ):
            connect(started.address, timeout=1)


INTERRUPTED = """
import sys
from clusters import MANY, model, planted_pair
import scca.distributed._packing as packing
from scca.distributed import connect, scatter
from scca.factors import constants

constants.MANY_SAMPLES = MANY
packing._MOST_BYTES_IN_TASK = int(sys.argv[2])
client = connect(sys.argv[1], timeout=120)
X, Y = scatter(client, *planted_pair(), n_blocks=5)
print("ready", flush=True)
while True:
    model().fit(X, Y)
"""


class TestAnInterruptedClient:
    @pytest.mark.parametrize("in_graph", [1 << 16, 0])
    def test_leaves_nothing_on_the_workers(self, cluster, in_graph, monkeypatch):
        monkeypatch.setenv("PYTHONPATH", beside_the_rest(os.path.dirname(os.path.dirname(__file__))))
        before = keys_of(cluster)
        process = start_program(INTERRUPTED, cluster.scheduler.address, in_graph)
        try:
            assert process.stdout.readline() == "ready\n"
            eventually(lambda: any("_added_up" in str(key) for key in keys_of(cluster)))
            process.send_signal(signal.SIGINT)
            _, errors = process.communicate(timeout=120)
        finally:
            process.kill()
        assert errors.rstrip().endswith("KeyboardInterrupt")
        eventually(lambda: keys_of(cluster) <= before)
        eventually(lambda: {key for keys in cluster.has_what().values() for key in keys} <= before)

    def test_that_lives_on_has_nothing_but_its_blocks(self, cluster, pair, at_pass, undisturbed):
        before = keys_of(cluster)
        X, Y = scatter(cluster, *pair, n_blocks=5)
        waiting = threading.Timer(0.5, signal.raise_signal, (signal.SIGINT,))
        # the shell lets commands in the background ignore Ctrl-C, and tests with them
        before_the_test = signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            with pytest.raises(KeyboardInterrupt):
                waiting.start()
                summed(slow_sum, [X], 3.0)
        finally:
            signal.signal(signal.SIGINT, before_the_test)
        eventually(lambda: not any("sum_of_blocks" in str(key) for key in keys_of(cluster)))
        assert_same(model().fit(X, Y), undisturbed)  # and can go on
        del X, Y
        eventually(lambda: keys_of(cluster) <= before)  # without waiting for the garbage collector


class TestWhatIsLeft:
    @SOURCES
    @pytest.mark.usefixtures("arguments")
    def test_after_a_fit_is_the_blocks(self, cluster, source):
        before = keys_of(cluster)
        X, Y = source(cluster)
        model(held_out=3).fit(X, Y)
        of_files = ("_load", "_checked", "_block")  # from which Dask computes lost blocks
        eventually(lambda: all(str(key).startswith((*of_files, "Block")) for key in keys_of(cluster) - before))
        eventually(lambda: len({key for keys in cluster.has_what().values() for key in keys} - before) == 5)
        del X, Y
        eventually(lambda: keys_of(cluster) <= before)

    @pytest.mark.usefixtures("arguments")
    def test_after_an_error_is_the_blocks(self, cluster, pair):
        X, _ = scatter(cluster, *pair, n_blocks=5)
        with pytest.raises(FileNotFoundError, match="gone.npy"):
            summed(failing, [X])
        eventually(lambda: not any("sum_of_blocks" in str(key) for key in keys_of(cluster)))


class TestAttempts:
    def test_end(self):
        tried = []

        def lose():
            tried.append(1)
            raise LostError("worker 1 is gone")

        with pytest.raises(ClusterError, match=r"3 times in a row \(worker 1 is gone\), most .*; give"):
            attempted(lose, lambda: None, tries=3)
        assert len(tried) == 3

    def test_a_closed_client_is_an_error_in_one_sentence(self, cluster, pair):
        with connect(cluster.scheduler.address) as client:
            X, _ = scatter(client, *pair)
            future = client.submit(len, "abc")
        with pytest.raises(ClusterError, match="is gone; start it"):
            summed(column_sums, [X])
        with pytest.raises(ClusterError, match="is gone; start it"):
            results(client, [future])
