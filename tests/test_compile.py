"""Compiled functions work where nothing can be written."""

import numba

from scca import _compile


def test_falls_back_where_no_cache_folder_can_be_written(monkeypatch):
    real = numba.njit

    def refusing(*args, **options):
        if options.get("cache"):
            raise RuntimeError("cannot cache function: no locator available")
        return real(*args, **options)

    monkeypatch.setattr(_compile, "njit", refusing)

    @_compile.compiled
    def double(x):
        return 2 * x

    assert double(21) == 42
