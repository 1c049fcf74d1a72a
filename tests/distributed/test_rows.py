"""Views in blocks of a cluster: the same model whatever the workers, the blocks and the source; and what they cost."""

import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from clusters import assert_same, column_sums, cosines, eventually, keys_of, model, planted_pair, sparse_pair

import scca.distributed._packing as packing
from scca import AnchoredCCA
from scca.distributed import local_cluster, read_rows, rows_of, scatter
from scca.distributed._packing import packed
from scca.samples import remote_blocks_of, summed

STORES = {"dense": planted_pair, "sparse": sparse_pair}


@pytest.fixture(params=STORES)
def pair(request):
    return STORES[request.param]()


def in_memory(pair, **settings):
    from blocks import many_pairs

    with pytest.MonkeyPatch.context() as patched:
        many_pairs(patched, 10**6)
        return model(**settings).fit(*pair)


def halves(pair):
    """Blocks of different sizes."""
    return [tuple(view[part] for view in pair) for part in (slice(0, 100), slice(100, None))]


class TestTheModel:
    @pytest.mark.slow  # other tests have one, two and three
    def test_is_the_same_for_any_number_of_workers(self):
        pair = sparse_pair()
        expected = in_memory(pair)
        with local_cluster(1, memory_limit=0) as client:
            for n_workers in (1, 2, 3, 4):
                client.cluster.scale(n_workers)
                client.wait_for_workers(n_workers, timeout=60)
                assert cosines(model().fit(*scatter(client, *pair)), expected).min() > 1 - 1e-6

    @pytest.mark.parametrize("n_blocks", [1, 7, *(pytest.param(n, marks=pytest.mark.slow) for n in (2, 240))])
    def test_is_the_same_for_any_number_of_blocks(self, cluster, n_blocks):
        pair = planted_pair()
        found = model().fit(*scatter(cluster, *pair, n_blocks=n_blocks))
        assert_same(found, in_memory(pair))

    def test_has_the_held_out_correlations_of_the_one_in_memory(self, cluster, pair, few_are_many):
        here, there = model(held_out=3).fit(*pair), model(held_out=3).fit(*scatter(cluster, *pair))
        assert_same(there, here, 1 - 1e-6)
        np.testing.assert_allclose(there.held_out_correlations_, here.held_out_correlations_, atol=1e-6)
        assert there.p_value_ == here.p_value_

    def test_with_as_many_components_as_hold(self, cluster, pair):
        found = model(n_components="auto").fit(*scatter(cluster, *pair))
        assert_same(found, model(n_components="auto").fit(*pair), 1 - 1e-6)

    @pytest.mark.slow  # tests/factors/test_choose.py has blocks of one process
    def test_reads_the_features_of_the_one_in_memory(self, cluster):
        pair, settings = sparse_pair(), {"n_features": "auto", "rendering": "joint", "scale": "rows"}
        here, there = model(**settings).fit(*pair), model(**settings).fit(*scatter(cluster, *pair))
        assert_same(there, here, 1 - 1e-6)
        for found, expected in zip(there.feature_weights_, here.feature_weights_, strict=True):
            np.testing.assert_array_equal(found != 0, expected != 0)
        assert there.n_read_ == here.n_read_ != [50, 40]
        assert there.mates_kept_ == pytest.approx(here.mates_kept_, rel=1e-6)
        np.testing.assert_allclose(there.reading_path_, here.reading_path_, rtol=1e-6)


class TestSources:
    def test_frames_have_their_names(self, cluster):
        X, Y = (pd.DataFrame(view).rename(columns="c{}".format) for view in planted_pair())
        found = model().fit(*scatter(cluster, X, Y))
        assert list(found.feature_names_in_[:2]) == ["c0", "c1"]

    def test_ranges_of_one_array_file(self, cluster, tmp_path):
        pair = planted_pair()
        files = [tmp_path / "x.npy", tmp_path / "y.npy"]
        for file, view in zip(files, pair, strict=True):
            np.save(file, view)
        X, Y = read_rows(cluster, *files, n_blocks=3)
        assert X.shape == pair[0].shape
        assert len(X.remote._kept.futures) == 3
        assert_same(model().fit(X, Y), in_memory(pair))

    @pytest.mark.parametrize("suffix", ["npy", "npz", "parquet", "csv"])
    def test_lists_of_files(self, cluster, tmp_path, suffix):
        pair = sparse_pair() if suffix == "npz" else planted_pair()
        files = [[], []]
        for i, part in enumerate(halves(pair)):
            for j, view in enumerate(part):
                files[j].append(tmp_path / f"{i}{j}.{suffix}")
                write = {
                    "npy": lambda file, view: np.save(file, view),
                    "npz": lambda file, view: sp.save_npz(file, view),
                    "parquet": lambda file, view: pd.DataFrame(view).rename(columns=str).to_parquet(file),
                    "csv": lambda file, view: pd.DataFrame(view).to_csv(file, index=False),
                }[suffix]
                write(files[j][-1], view)
        assert_same(model().fit(*read_rows(cluster, *files)), in_memory(pair))

    def test_futures_and_delayed_objects(self, cluster, pair):
        from dask import delayed

        expected = in_memory(pair)
        futures = [cluster.submit(tuple, part, pure=False) for part in halves(pair)]
        later = [delayed(tuple)(part) for part in halves(pair)]
        for given in (futures, later):
            assert_same(model().fit(*rows_of(cluster, given)), expected)

    def test_few_pairs_are_fitted_in_memory(self, cluster):
        pair = planted_pair(n=50)
        found = AnchoredCCA(3).fit(*scatter(cluster, *pair))
        np.testing.assert_array_equal(found.x_weights_, AnchoredCCA(3).fit(*pair).x_weights_)


class TestRefusals:
    def test_of_values_that_are_not_finite_name_the_block(self, cluster):
        parts = halves(planted_pair())
        parts[1][0][3, 4] = np.nan
        with pytest.raises(ValueError, match=r"^block 1: Input X contains NaN \(first at row 3, column 4\); [^\n]*$"):
            rows_of(cluster, [cluster.submit(tuple, part, pure=False) for part in parts])

    def test_of_values_that_are_not_finite_before_anything_is_sent(self, cluster):
        X, Y = planted_pair()
        X[3, 4] = np.inf
        with pytest.raises(ValueError, match=r"^Input X contains inf \(first at row 3, column 4\); [^\n]*$"):
            scatter(cluster, X, Y)

    def test_of_blocks_of_different_widths(self, cluster):
        parts = halves(planted_pair())
        parts[1] = (parts[1][0][:, 1:], parts[1][1])
        with pytest.raises(ValueError, match="all blocks of X must have the same features.*49 and 50 features"):
            rows_of(cluster, [cluster.submit(tuple, part, pure=False) for part in parts])

    def test_of_dense_and_sparse_blocks_of_one_view(self, cluster):
        parts = halves(planted_pair())
        parts[1] = (sp.csr_array(parts[1][0]), parts[1][1])
        with pytest.raises(ValueError, match="all blocks of X must have the same features, dense or sparse"):
            rows_of(cluster, [cluster.submit(tuple, part, pure=False) for part in parts])

    def test_of_views_of_different_samples(self, cluster, tmp_path):
        X, Y = planted_pair()
        with pytest.raises(ValueError, match="240 .*239"):
            scatter(cluster, X, Y[1:])
        for name, view in (("x.npy", X), ("y.npy", Y[1:])):
            np.save(tmp_path / name, view)
        with pytest.raises(ValueError, match="240 .*239"):
            read_rows(cluster, tmp_path / "x.npy", tmp_path / "y.npy")
        with pytest.raises(ValueError, match="block 0: .*240 .*239"):
            rows_of(cluster, [cluster.submit(tuple, (X, Y[1:]), pure=False)])

    def test_of_one_view_in_memory(self, cluster):
        X, Y = planted_pair()
        blocks_of_x, _ = scatter(cluster, X, Y)
        with pytest.raises(ValueError, match="all views must be in blocks, or none; got a ndarray as Y: scatter it"):
            model().fit(blocks_of_x, Y)

    @pytest.mark.parametrize("needy", [AnchoredCCA(3), model(kernel="rbf")], ids=str)
    def test_of_models_that_need_all_samples_at_once(self, cluster, needy):
        with pytest.raises(ValueError, match="blocks are for SparseCCA with a linear kernel; got n_samples=240 and a"):
            needy.fit(*scatter(cluster, *planted_pair()))

    def test_of_files_that_are_not_there(self, cluster, tmp_path):
        with pytest.raises(FileNotFoundError, match=r"gone\.npz"):
            read_rows(cluster, tmp_path / "gone.npz", tmp_path / "gone.npz")

    def test_of_files_of_another_kind(self, cluster, tmp_path):
        with pytest.raises(ValueError, match=r"x\.txt must be a \.npy, \.npz, \.parquet or \.csv file"):
            read_rows(cluster, tmp_path / "x.txt", tmp_path / "y.txt")

    def test_of_unequally_many_files(self, cluster):
        with pytest.raises(ValueError, match="X and Y must have as many files; got 2 and 1"):
            read_rows(cluster, ["a.npy", "b.npy"], ["c.npy"])


class TestCosts:
    def test_one_task_per_worker_and_pass_whatever_the_number_of_blocks(self, cluster):
        X, _ = scatter(cluster, *planted_pair(), n_blocks=10)
        traffic = X.remote.traffic
        summed(column_sums, [X])
        assert (traffic.n_passes, traffic.n_tasks) == (1, 2 + 1)  # and one that adds up

    def test_what_travels_does_not_grow_with_the_pairs(self, cluster):
        found = []
        for n in (400, 1600):
            X, Y = scatter(cluster, *planted_pair(n=n), n_blocks=2)
            # feature weights, and norms that are shrunk, are estimated from up to 2,000 pairs, brought here once
            model(feature_weights=None, scale="columns").fit(X, Y)
            found.append(X.remote.traffic)
        few, many = found
        for name in ("sent", "received"):
            per_pass = [getattr(traffic, name) / traffic.n_passes for traffic in (few, many)]
            assert per_pass[1] < 1.2 * per_pass[0]
        assert many.n_tasks / many.n_passes == few.n_tasks / few.n_passes == 3

    def test_nothing_large_is_inside_a_graph(self, cluster, monkeypatch):
        """Large arguments are sent once, and tasks have their key."""
        limit, sizes = 1 << 10, []
        monkeypatch.setattr(packing, "_MOST_BYTES_IN_TASK", limit)
        original = cluster.submit

        def measured(*given, **settings):
            sizes.append(len(packed(tuple(part for part in given if isinstance(part, bytes | list | np.ndarray)))))
            return original(*given, **settings)

        X, Y = scatter(cluster, *planted_pair(), n_blocks=4)
        monkeypatch.setattr(cluster, "submit", measured)
        model().fit(X, Y)
        traffic = X.remote.traffic
        assert max(sizes) < 2 * limit
        assert traffic.sent > limit * traffic.n_passes / 2  # so that some were large

    def test_nothing_is_kept_of_large_arguments(self, cluster, monkeypatch):
        monkeypatch.setattr(packing, "_MOST_BYTES_IN_TASK", 0)
        X, Y = scatter(cluster, *planted_pair())
        model().fit(X, Y)
        eventually(lambda: not any(str(key).startswith("bytes") for key in keys_of(cluster)))

    def test_workers_are_asked_for_few_samples_by_their_numbers(self, cluster):
        X, _ = scatter(cluster, *planted_pair())
        assert remote_blocks_of([X]) is X.remote
        np.testing.assert_array_equal(X.chosen(np.array([200, 3])), planted_pair()[0][[200, 3]])


class TestPayload:
    def test_is_what_was_packed(self, rng):
        dense, sparse = rng.standard_normal((100, 60)), np.zeros((100, 60))
        sparse[::7, 3] = -1.5
        small = np.array([[0.0, 1.0]])
        content = {"a": dense, "b": [sparse, small], "c": "text", "d": dense.astype(np.float32)}
        found = pickle.loads(packed(content))
        np.testing.assert_array_equal(found["a"], dense)
        np.testing.assert_array_equal(found["b"][0], sparse)
        np.testing.assert_array_equal(found["b"][1], small)
        assert found["c"] == "text"
        assert found["d"].dtype == np.float32

    def test_of_few_weights_is_small(self):
        weights = np.zeros((10_000, 20))
        weights[::100] = 1.0
        assert len(packed(weights)) < 0.05 * weights.nbytes
