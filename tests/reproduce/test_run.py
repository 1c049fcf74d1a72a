"""Runs: resumed, parallel, refused, and drawn from the numbers they wrote."""

import csv
import json

import numpy as np
import pytest

from scca.reproduce import Settings, Size, parse_size, reproduce
from scca.reproduce._claims import compare
from scca.reproduce._experiments import METHODS, paper_experiments
from scca.reproduce._figures import draw


def contents(folder):
    return {path.relative_to(folder): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


@pytest.fixture(scope="module")
def done(tmp_path_factory, corpus, settings):
    return reproduce(tmp_path_factory.mktemp("run") / "results", corpus, corpus, settings, command="scca reproduce")


@pytest.fixture(scope="module")
def drawn(done, corpus, settings):
    experiments = paper_experiments(corpus, corpus, settings)
    return {e.name: (draw(e, done.data[e.name]), done.data[e.name]) for e in experiments}


def test_everything_is_written(done, settings):
    names = ["figure1", "table1", "figure2", "figure3", "figure4", "figure5", "extra-errors", "extra-sparsity"]
    assert list(done.data) == names
    for name in names:
        assert json.loads((done.folder / f"{name}.json").read_text()) == done.data[name]
        assert (done.folder / f"{name}.png").read_bytes().startswith(b"\x89PNG")
        assert (done.folder / f"{name}.svg").read_text().startswith("<svg")
    manifest = json.loads((done.folder / "manifest.json").read_text())
    assert manifest["settings"]["seed"] == settings.seed
    assert manifest["corpora"]["tiny"]["pairs"] == 26
    assert set(manifest["packages"]) >= {"numpy", "scipy", "scikit-learn", "numba"}
    page = (done.folder / "index.html").read_text()
    assert "http" not in page.replace("http://www.w3.org", "").replace("http://purl.org", "").replace(
        "http://creativecommons.org", ""
    ).replace("https://matplotlib.org", "")  # names inside the drawings; nothing is fetched
    for text in ("1.01 ± 0.54", "28.15 ± 15.71", "about 142", "460", "does not hold"):
        assert text in page
        assert text in (done.folder / "README.md").read_text()


def test_a_stopped_run_goes_on_and_ends_with_the_same_bytes(tmp_path, done, corpus, settings):
    class StoppedError(Exception):
        pass

    def stop(n_done, n_tasks):
        if n_done == 9:
            raise StoppedError

    with pytest.raises(StoppedError):
        reproduce(tmp_path / "r", corpus, corpus, settings, command="scca reproduce", progress=stop)
    kept = {path: path.stat().st_mtime_ns for path in (tmp_path / "r" / "work").iterdir()}
    assert len(kept) == 9
    reproduce(tmp_path / "r", corpus, corpus, settings, command="scca reproduce")
    assert contents(tmp_path / "r") == contents(done.folder)
    assert {path: path.stat().st_mtime_ns for path in kept} == kept


def test_jobs_change_nothing(tmp_path, done, corpus, settings):
    reproduce(tmp_path / "r", corpus, corpus, settings, command="scca reproduce", jobs=2)
    assert contents(tmp_path / "r") == contents(done.folder)


def test_parts_add_up(tmp_path, done, corpus, settings):
    first = reproduce(tmp_path / "r", corpus, corpus, settings, only=["figure1"], command="scca reproduce")
    assert list(first.data) == ["figure1"]
    second = reproduce(tmp_path / "r", corpus, corpus, settings, only=["extra-errors"], command="scca reproduce")
    assert list(second.data) == ["figure1", "extra-errors", "extra-sparsity"]  # the last needs the same work
    reproduce(tmp_path / "r", corpus, corpus, settings, command="scca reproduce")
    assert contents(tmp_path / "r") == contents(done.folder)


def test_a_damaged_piece_of_work_is_done_again(tmp_path, done, corpus, settings):
    reproduce(tmp_path / "r", corpus, corpus, settings, only=["figure1"], command="scca reproduce")
    piece = tmp_path / "r" / "work" / "tiny-path-0.json"
    before = piece.read_bytes()
    piece.write_bytes(before[:40])
    reproduce(tmp_path / "r", corpus, corpus, settings, only=["figure1"], command="scca reproduce")
    assert piece.read_bytes() == before


def test_a_folder_of_another_run_is_refused_and_kept(tmp_path, corpus, settings):
    folder = tmp_path / "r"
    reproduce(folder, corpus, corpus, settings, only=["figure1"])
    before = contents(folder)
    with pytest.raises(ValueError, match=r"r holds a run with other seed \(5 there, 0 here\); name another folder"):
        reproduce(folder, corpus, corpus, Settings(), only=["figure1"])
    assert contents(folder) == before
    (tmp_path / "file").touch()
    with pytest.raises(NotADirectoryError, match="file is a file; name a folder"):
        reproduce(tmp_path / "file", corpus, corpus, settings)


def test_a_run_from_before_there_were_shared_factors_is_refused(tmp_path, corpus, settings):
    """Its finished splits have no curve of shared factors."""
    folder = tmp_path / "r"
    reproduce(folder, corpus, corpus, settings, only=["figure1"])
    manifest = json.loads((folder / "manifest.json").read_text())
    del manifest["settings"]["projections"]
    (folder / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(ValueError, match=r"holds a run with other projections \(None there, \[2, 5, 50\] here\)"):
        reproduce(folder, corpus, corpus, settings)


def test_what_cannot_be_done_is_refused(tmp_path, corpus):
    with pytest.raises(ValueError, match="no experiment 'figure9'; choose from figure1, table1"):
        reproduce(tmp_path / "r", corpus, corpus, Settings(), only=["figure9"])
    with pytest.raises(ValueError, match="jobs must be None or an integer other than 0; got 0"):
        reproduce(tmp_path / "r", corpus, corpus, Settings(), jobs=0)
    with pytest.raises(ValueError, match="no experiment 'extra-errors'.*--size"):
        reproduce(tmp_path / "r", corpus, corpus, Settings(), only=["extra-errors"])
    with pytest.raises(ValueError, match="size 20/7 needs 27 documents; there are 26"):
        reproduce(tmp_path / "r", corpus, corpus, Settings(sizes=(Size(20, 7),)))
    for wrong in ("20", "a/b", "1/2/3", "2/9", "9/1"):
        with pytest.raises(ValueError, match="size"):
            parse_size(wrong)
    with pytest.raises(ValueError, match="frequencies must be 'training' or 'corpus'; got 'test'"):
        Settings(frequencies="test")
    with pytest.raises(ValueError, match="projections must be .*; got 0"):
        Settings(projections=(5, 0))
    assert not (tmp_path / "r").exists()


def test_sizes_shrink_to_what_there_is():
    assert Size(50, 250).within(300) == Size(50, 250)
    assert Size(100, 900).within(300) == Size(100, 200)
    assert Size(100, 200).within(120) == Size(60, 60)


def test_whole_corpus_frequencies_are_used_and_said(tmp_path, done, corpus, settings):
    from dataclasses import replace

    other = replace(settings, frequencies="corpus")
    found = reproduce(tmp_path / "r", corpus, corpus, other, only=["figure3"])
    assert found.data["figure3"] != done.data["figure3"]
    assert "come from the whole corpus, test documents included" in (tmp_path / "r" / "README.md").read_text()
    assert "of each left-out pair) alone" in (done.folder / "README.md").read_text()


def test_spreads_are_those_of_the_splits(done, settings):
    splits = [
        json.loads((done.folder / "work" / f"tiny-split-9-11-{i}.json").read_text()) for i in range(settings.splits)
    ]
    panel = done.data["extra-errors"]["panels"][0]
    for name in METHODS:
        both = np.array([np.mean([s["methods"][name]["a_to_b"], s["methods"][name]["b_to_a"]], axis=0) for s in splits])
        np.testing.assert_allclose(panel["methods"][name]["mean"], both.mean(axis=0), rtol=1e-6)
        np.testing.assert_allclose(panel["methods"][name]["std"], both.std(axis=0, ddof=1), rtol=1e-6, atol=1e-12)
    for method, used in done.data["extra-sparsity"]["panels"][0]["words"].items():
        words = np.array([split["words"][method] for split in splits])
        np.testing.assert_allclose(used["mean"], words.mean(axis=0), rtol=1e-6)
    rows = list(csv.DictReader((done.folder / "extra-errors.csv").open()))
    row = next(row for row in rows if row["method"] == "kcca" and row["projections"] == "4")
    assert float(row["error"]) == panel["methods"]["kcca"]["mean"][3]
    assert float(row["second_to_first"]) == panel["methods"]["kcca"]["b_to_a"]["mean"][3]
    shared = panel["methods"]["shared"]
    found = [(int(row["projections"]), float(row["error"])) for row in rows if row["method"] == "shared"]
    assert found == list(zip(shared["projections"], shared["mean"], strict=True))
    for theirs in ("kcca", "kcca-tuned"):
        ours, other = (
            np.array([np.mean([s["methods"][name]["a_to_b"], s["methods"][name]["b_to_a"]], axis=0) for s in splits])
            for name in ("shared", theirs)
        )
        differences = ours - other[:, np.array(shared["projections"]) - 1]  # with as many projections
        difference = panel["differences"]["shared"][theirs]
        np.testing.assert_allclose(difference["mean"], differences.mean(axis=0), rtol=1e-6, atol=1e-12)
        expected = differences.std(axis=0, ddof=1) / np.sqrt(settings.splits)
        np.testing.assert_allclose(difference["standard_error"], expected, rtol=1e-6, atol=1e-12)
    rows = list(csv.DictReader((done.folder / "extra-sparsity.csv").open()))
    words = done.data["extra-sparsity"]["panels"][0]["words"]["shared"]
    found = [(int(row["projections"]), float(row["words"])) for row in rows if row["method"] == "shared"]
    assert found == list(zip(words["projections"], words["mean"], strict=True))
    assert {(row["method"], row["documents"] == "") for row in rows} == {("scca", False), ("shared", True)}


def test_table1_is_the_mean_over_the_left_out(done):
    rows = list(csv.DictReader((done.folder / "table1.csv").open()))
    for d in done.data["table1"]["directions"]:
        mine = [row for row in rows if row["to"] == d["to"]]
        assert len(mine) == 26
        for name, column in (("automatic", "selected"), ("least_squares", "least_squares")):
            ratios = np.array([int(row[column]) / int(row["mate_words"]) for row in mine])
            assert d[name]["mean"] == pytest.approx(ratios.mean(), rel=1e-6)
            assert d[name]["std"] == pytest.approx(ratios.std(ddof=1), rel=1e-6)


def lines(axes):
    return {line.get_label(): line for line in axes.lines}


def test_figure1_draws_the_path_the_ideal_and_the_automatic_mu(drawn):
    figure, data = drawn["figure1"]
    assert len(figure.axes) == 2
    for axes, d in zip(figure.axes, data["directions"], strict=True):
        assert axes.get_xlabel() == "mu"
        assert axes.get_xscale() == "log"
        found = lines(axes)
        np.testing.assert_array_equal(found["over mu"].get_xydata(), np.column_stack([d["mu"], d["ratio"]]))
        assert list(found["ideal: as many words as the mate"].get_ydata()) == [1, 1]
        assert list(found["automatic mu"].get_xdata()) == [d["automatic_mu"]] * 2
        assert found["_automatic"].get_xydata().tolist() == [[d["automatic_mu"], d["automatic_ratio"]]]


@pytest.mark.parametrize("name", ["figure2", "figure4", "extra-errors"])
def test_error_figures_draw_curves_bars_and_the_unlearnt_line(drawn, name):
    figure, data = drawn[name]
    assert len(figure.axes) == len(data["panels"])
    for axes, panel in zip(figure.axes, data["panels"], strict=True):
        assert (axes.get_xlabel(), axes.get_ylabel()) == ("projections", "average precision error 1 - p")
        found = lines(axes)
        for method, label in METHODS.items():
            curve = panel["methods"][method]
            np.testing.assert_array_equal(found[label].get_ydata(), curve["mean"])
            assert list(found[label].get_xdata()) == curve["projections"]
        assert len(panel["methods"]["shared"]["projections"]) < len(panel["methods"]["scca"]["projections"])
        assert found[METHODS["shared"]].get_marker() == "o"  # few points are shown as points
        assert set(found["no learning: similarities"].get_ydata()) == {panel["no-learning"]["mean"][0]}
        bars = [collection for collection in axes.collections if hasattr(collection, "get_segments")]
        assert len(bars) == len(METHODS)
        for method, drawn_bars in zip(METHODS, bars, strict=True):
            curve = panel["methods"][method]
            for (x, low), (_, high) in drawn_bars.get_segments():
                i = curve["projections"].index(round(x))
                assert (low + high) / 2 == pytest.approx(curve["mean"][i])
                assert (high - low) / 2 == pytest.approx(curve["std"][i])


def test_sparsity_figures_draw_both_counts_and_all_there_is(drawn):
    figure, data = drawn["figure3"]
    panel = data["panels"][0]
    words, documents = figure.axes
    assert (words.get_ylabel(), documents.get_ylabel()) == ("first words used", "second documents used")
    for axes, name, full in ((words, "words", panel["vocabulary"][0]), (documents, "documents", panel["train"])):
        found = lines(axes)
        for method, used in panel[name].items():
            np.testing.assert_array_equal(found[METHODS[method]].get_ydata(), used["mean"])
            assert list(found[METHODS[method]].get_xdata()) == used["projections"]
        assert (METHODS["shared"] in found) == (name == "words")
        everything = axes.lines[-1]
        assert everything.get_label().startswith("kernel CCA")
        assert set(everything.get_ydata()) == {full}


@pytest.mark.parametrize("name", ["figure2", "figure3"])
def test_projections_are_counted_from_one(drawn, name):
    figure, _ = drawn[name]
    for axes in figure.axes:
        assert axes.get_xticks()[0] == 1
        assert axes.get_xlim()[0] == 0.5
        assert not (axes.get_xticks() % 1).any()


def test_table1_is_drawn_with_all_pairs_and_all_variations(drawn):
    figure, data = drawn["table1"]
    scatter, bars = figure.axes
    for d, line in zip(data["directions"], scatter.lines, strict=False):
        assert line.get_xydata().tolist() == [[row["mate_words"], row["selected"]] for row in d["rows"]]
    assert [bar.get_width() for bar in bars.patches] == [v["ratio"]["mean"] for v in data["variations"][::-1]]


def panel(scca, kcca, error=0.001, shared=None):
    """The numbers of a figure for 1, 2, ... projections; shared factors have only some of them."""
    shared = shared or {1: scca[0]}
    given = {"scca": dict(enumerate(scca, 1)), "kcca": dict(enumerate(kcca, 1)), "shared": shared}
    curves = {
        name: {"projections": list(curve), "mean": list(curve.values()), "std": [0.0] * len(curve)}
        for name, curve in given.items()
    }
    differences = {}
    for ours in ("scca", "shared"):
        difference = {
            "projections": list(given[ours]),
            "mean": [value - given["kcca"][j] for j, value in given[ours].items()],
            "standard_error": [error] * len(given[ours]),
        }
        differences[ours] = {"kcca": difference, "kcca-tuned": difference}
    return {
        "train": 4,
        "test": 9,
        "methods": curves | {"kcca-tuned": curves["kcca"]},
        "differences": differences,
    }


def claims(name, panels, of_paper=True):
    found = compare({name: {"panels": panels}})
    return [claim for claim in found if (claim.paper != "not in the paper") == of_paper]


def verdicts(name, panels):
    return {claim.verdict for claim in claims(name, panels)}


def test_verdicts_follow_the_numbers():
    assert verdicts("figure2", [panel([0.5, 0.305], [0.4, 0.3])]) == {"holds"}  # within 0.01 at the end
    assert verdicts("figure2", [panel([0.5, 0.35], [0.4, 0.3])]) == {"does not hold"}
    assert verdicts("figure2", [panel([0.5, 0.35], [0.4, 0.3], error=0.03)]) == {"holds"}  # noise
    assert verdicts("figure4", [panel([0.3, 0.2], [0.4, 0.3])]) == {"holds"}
    assert verdicts("figure4", [panel([0.3, 0.3], [0.4, 0.2])]) == {"does not hold"}
    ratio = {"from": "fr", "to": "en", "least_squares": {"mean": 30.0, "std": 9.0}}
    table = {"directions": [ratio | {"automatic": {"mean": 1.4, "std": 0.5}}]}
    assert {claim.verdict for claim in compare({"table1": table})} == {"holds"}
    table = {"directions": [ratio | {"automatic": {"mean": 3.4, "std": 0.5}}]}
    assert [claim.verdict for claim in compare({"table1": table})] == ["does not hold", "holds"]


@pytest.mark.parametrize("name", ["figure2", "figure4"])
def test_shared_factors_are_compared_where_they_were_fitted(name):
    curve = panel([0.9] * 9, [0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.15, 0.1], shared={1: 0.7, 4: 0.505, 5: 0.5, 9: 0.2})
    for claim in claims(name, [curve], of_paper=False):
        assert claim.where == name.replace("figure", "Figure ")
        assert claim.found.startswith(
            "lower with 1, level with 4, higher with 5 and 9 projections; with 9: error 0.200"
        )
        assert claim.verdict == "higher with all"
    noisy = panel([0.9] * 9, [0.5] * 9, error=0.2, shared={1: 0.7, 9: 0.4})
    assert {claim.verdict for claim in claims(name, [noisy], of_paper=False)} == {"level with all"}


def words_panel(shared):
    scca = {"projections": [1, 2], "mean": [3.0, 4.0]}
    return {
        "train": 4,
        "test": 9,
        "languages": ["fr", "en"],
        "vocabulary": [200.0, 100.0],
        "words": {"scca": scca, "shared": {"projections": [1, 2], "mean": shared}},
        "documents": {"scca": scca},
    }


@pytest.mark.parametrize("name", ["figure3", "figure5"])
def test_words_of_shared_factors_are_counted_beside_all_of_their_language(name):
    for shared, found, verdict in (
        ([196.0, 200.0], "196 to 200 of 200 (98 to 100 %)", "nearly all words"),
        ([50.0, 50.0], "50 of 200 (25 %)", "not all words"),
        ([10.0, 6.0], "6 to 10 of 200 (3 to 5 %)", "a small share"),
    ):
        (claim,) = claims(name, [words_panel(shared)], of_paper=False)
        assert (claim.found, claim.verdict) == (found, verdict)
