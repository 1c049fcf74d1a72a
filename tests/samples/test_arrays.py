import numpy as np
import pytest
import scipy.sparse as sp

import scca.samples._views as arrays
from scca.samples import ChosenRows, chosen_rows, read_tile, tiles


@pytest.mark.parametrize("shape", [(3, 50), (50, 3), (7, 7), (1, 1), (4, 0)])
def test_tiles_cover_a_matrix_once(shape, monkeypatch):
    monkeypatch.setattr(arrays, "_TILE_ENTRIES", 20)
    covered = np.zeros(shape)
    for rows, columns in tiles(*shape):
        assert covered[rows, columns].size <= 20
        covered[rows, columns] += 1
    assert (covered == 1).all()


@pytest.mark.parametrize(
    "columns", [slice(2, 9), np.array([5]), np.array([7, 1, 3]), np.arange(3, 9), np.array([], int)]
)
@pytest.mark.parametrize("order", "CF")
def test_chosen_rows_read_as_the_copy_does(rng, columns, order):
    array = np.asarray(rng.standard_normal((12, 10)), order=order)
    rows = np.array([8, 0, 3, 11, 4])
    lazy, copied = ChosenRows(array, rows), array[rows]
    assert (lazy.shape, len(lazy), lazy.size, lazy.dtype) == (copied.shape, 5, 50, copied.dtype)
    np.testing.assert_array_equal(lazy[0], copied[0])
    np.testing.assert_array_equal(np.asarray(lazy), copied)
    np.testing.assert_array_equal(np.asarray(ChosenRows(lazy, np.array([4, 1]))), copied[[4, 1]])
    for part in (slice(None), slice(1, 4)):
        expected = copied[part][:, columns]
        np.testing.assert_array_equal(read_tile(lazy, part, columns), expected)
        np.testing.assert_array_equal(read_tile(copied, part, columns), expected)


def test_only_rows_of_large_dense_arrays_stay_where_they_are(rng, monkeypatch):
    array, rows = rng.standard_normal((6, 4)), np.array([2, 5])
    assert isinstance(chosen_rows(array, rows), np.ndarray)
    monkeypatch.setattr(arrays, "_MOST_COPIED", 0)
    assert isinstance(chosen_rows(array, rows), ChosenRows)
    assert sp.issparse(chosen_rows(sp.csr_array(array), rows))
