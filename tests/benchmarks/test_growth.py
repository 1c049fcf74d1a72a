"""The benchmarks' own arithmetic, page and resuming; nothing is timed."""

import json
import re

import numpy as np
import pytest

pytest.importorskip("benchmarks", reason="the benchmarks are not beside these tests")

from benchmarks._growth_tables import axes_of, fit_exponent, tables_of
from benchmarks._page import render_page
from benchmarks._results import Results, about

SIZES = (100, 200, 400)


def measured(seconds, megabytes=10.0):
    return {"seconds": [seconds, 2 * seconds], "bytes": 1e6 * megabytes}


@pytest.fixture
def growth():
    """scca linear, one peer quadratic, one stopped at the second size, one that is not installed."""
    groups = {}
    for size in SIZES:
        slow = measured(size) if size == 100 else {"missing": "took more than 30 s at n = 200"}
        methods = {
            "scca": measured(0.001 * size, 0.1 * size),
            "quadratic": measured(0.001 * size**2),
            "slow": slow,
            "<absent>": {"missing": "not installed"},
        }
        groups[f"component n {size}"] = {
            "part": "component",
            "axis": "n",
            "size": size,
            "fixed": {"m": 50},
            "methods": methods,
        }
    return groups


@pytest.fixture
def data(growth):
    return {"about": about({"quick": True}), "growth": growth, "tables": {"dense": "solver & time\n1 < 2"}}


# --- exponents --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("exponent", [-0.5, 0.0, 1.0, 2.75])
def test_exponent_of_a_power_law_in_any_order_and_unit(exponent):
    sizes = np.array([0.01, 3.0, 0.2, 700.0])
    for unit in (1e-6, 1.0, 1e9):
        assert fit_exponent(sizes, unit * sizes**exponent) == pytest.approx(exponent, abs=1e-12)


def test_exponent_is_least_squares_of_logarithms(rng):
    sizes, values = np.geomspace(10, 1000, 7), rng.lognormal(size=7)
    assert fit_exponent(sizes, values) == pytest.approx(np.polyfit(np.log(sizes), np.log(values), 1)[0])


@pytest.mark.parametrize("sizes", [[], [5.0]])
def test_no_exponent_from_fewer_than_two_sizes(sizes):
    assert fit_exponent(sizes, sizes) is None


# --- tables -----------------------------------------------------------------------------------------------------------


def test_ratios_to_the_best_time_of_scca_at_the_same_size(growth):
    [axis] = axes_of(growth)
    times, memory = tables_of(axis)
    rows = {row[0]: row[1:] for row in times.rows}
    assert rows["scca"] == ["100 ms", "200 ms", "400 ms", "n^1.00 (100 to 400)"]
    assert rows["quadratic"] == ["100", "200", "400", "n^2.00 (100 to 400)"]
    assert rows["slow"] == ["1,000", "", "", ""]
    assert rows["<absent>"] == [""] * 4
    assert times.notes == ["slow: took more than 30 s at n = 200", "<absent>: not installed"]
    assert memory.rows[0][1:] == ["10.0", "20.0", "40.0", "n^1.00 (100 to 400)"]


def test_order_of_measuring_does_not_matter(growth):
    backwards = dict(reversed(growth.items()))
    assert tables_of(axes_of(backwards)[0]) == tables_of(axes_of(growth)[0])


def test_a_peer_has_its_own_time_where_scca_has_none(growth):
    growth["component n 200"]["methods"]["scca"] = {"missing": "failed"}
    [axis] = axes_of(growth)
    rows = {row[0]: row[1:] for row in tables_of(axis)[0].rows}
    assert rows["scca"][1] == ""
    assert rows["quadratic"][1] == "(40 s)"


# --- page -------------------------------------------------------------------------------------------------------------


def test_page_has_all_that_was_measured_and_nothing_to_load(data):
    page = render_page(data)
    assert "n^2.00 (100 to 400)" in page
    assert "took more than 30 s at n = 200" in page
    assert "&lt;absent&gt;: not installed" in page
    assert "<absent>" not in page
    assert "solver &amp; time\n1 &lt; 2" in page
    assert page.count("<svg") == 1
    assert not re.search(r"<(script|link|img)\b|url\(http", page)
    assert 'name="viewport"' in page


def test_page_of_nothing(data):
    assert "<h1>" in render_page(data | {"growth": {}, "tables": {}})


def test_page_of_one_size_where_nothing_was_measured(data):
    group = data["growth"]["component n 100"]
    group["methods"] = {name: {"missing": "failed"} for name in group["methods"]}
    page = render_page(data | {"growth": {"component n 100": group}})
    assert "scca: failed" in page


# --- resuming ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def shown():
    return []


def results(folder, shown, about, **options):
    return Results(folder, about, show=lambda data, _: shown.append(json.dumps(data)), **options)


def refused():
    raise AssertionError("measured again")


def test_goes_on_where_it_was(tmp_path, shown):
    first = results(tmp_path, shown, {"code": "a", "date": "2000-01-01"})
    assert first.get("growth", "one", lambda: {"size": 1}) == {"size": 1}

    def interrupted():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        first.get("growth", "two", interrupted)
    second = results(tmp_path, shown, {"code": "a", "date": "2000-01-02"})
    assert second.get("growth", "one", refused) == {"size": 1}
    assert second.get("growth", "two", lambda: {"size": 2}) == {"size": 2}
    assert len(shown) == 2  # once after each measurement
    assert json.loads(shown[-1])["growth"] == {"one": {"size": 1}, "two": {"size": 2}}


@pytest.mark.parametrize(("code", "fresh"), [("b", False), ("a", True)])
def test_starts_again_with_other_code_or_if_told_to_and_keeps_what_was(tmp_path, shown, code, fresh):
    results(tmp_path, shown, {"code": "a"}).get("tables", "one", lambda: "before")
    again = results(tmp_path, shown, {"code": code}, fresh=fresh)
    assert again.get("tables", "one", lambda: "now") == "now"
    assert "before" in (tmp_path / "results-before.json").read_text()
    assert "now" in (tmp_path / "results.json").read_text()


def test_about_says_what_changes_figures():
    run = about({"quick": False})
    assert run["versions"]["numpy"] == np.__version__
    assert run == about({"quick": False})
    assert run != about({"quick": True})
