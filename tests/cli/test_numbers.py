"""Numbers given to `scca fit`, which reads text: refused, with lines of Python that work as they stand."""

import gzip
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from commands import run, write_lines

import scca
from scca.cli._refusing import refuse_numbers
from scca.cli._terminal import AdvisedError
from scca.datasets import load_trilingual


@pytest.fixture(scope="module")
def views():
    rng = np.random.default_rng(0)
    shared = rng.normal(size=(40, 1))
    return [
        pd.DataFrame(np.round(shared + rng.normal(size=(40, p)), 3), columns=[f"{side}{j}" for j in range(p)])
        for side, p in (("x", 4), ("y", 3))
    ]


def advice(*paths, chosen=None):
    """The sentence, and the views that the lines of Python read."""
    with pytest.raises(AdvisedError) as refusal:
        refuse_numbers(list(paths), chosen, None, paths[0].parent / "m.scca")
    *lines, fit, save = refusal.value.lines
    assert fit == 'model = scca.SparseCCA("auto").fit(X, Y)'
    assert save == f'scca.save(model, "{paths[0].parent / "m.scca"}")'
    variables = {}
    exec("\n".join(lines), variables)
    return str(refusal.value), variables["X"], variables["Y"]


def is_text(*paths, chosen=None):
    refuse_numbers(list(paths), chosen, None, paths[0].parent / "m.scca")
    return True


def labelled(frame):
    return frame.set_axis([f"s{i:02}" for i in range(len(frame))])


WRITTEN = {
    "comma": lambda frame, path: frame.to_csv(path, index=False),
    "semicolon": lambda frame, path: frame.to_csv(path, index=False, sep=";"),
    "tab": lambda frame, path: frame.to_csv(path, index=False, sep="\t"),
    "bar": lambda frame, path: frame.to_csv(path, index=False, sep="|"),
    "decimal comma": lambda frame, path: frame.to_csv(path, index=False, sep=";", decimal=","),
    "tab, decimal comma": lambda frame, path: frame.to_csv(path, index=False, sep="\t", decimal=","),
    "labels": lambda frame, path: labelled(frame).to_csv(path),
    "named labels": lambda frame, path: labelled(frame).to_csv(path, index_label="subject", sep=";", decimal=","),
    "dates": lambda frame, path: frame.set_axis(pd.date_range("2020-01-01", periods=len(frame))).to_csv(path),
    "row numbers": lambda frame, path: frame.to_csv(path),
    "numbered": lambda frame, path: frame.to_csv(path, index_label="patient_id"),
    "quoted": lambda frame, path: frame.to_csv(path, index=False, quoting=1),
    "R": lambda frame, path: labelled(frame).to_csv(path, sep=" ", header=[*frame.columns], index_label=False),
    "spaces": lambda frame, path: path.write_text(frame.to_string(index=False)),
    "after commas": lambda frame, path: write_lines(
        path, [", ".join(frame.columns), *(", ".join(map(str, row)) for row in frame.to_numpy())]
    ),
    "marked": lambda frame, path: frame.to_csv(path, index=False, lineterminator="\r\n", encoding="utf-8-sig"),
}
WITHOUT_HEADER = {
    "comma": {"sep": ","},
    "semicolon": {"sep": ";", "decimal": ","},
    "tab": {"sep": "\t"},
}


class TestTwoTables:
    @pytest.mark.parametrize("written", WRITTEN)
    @pytest.mark.parametrize("suffix", ["csv", "tsv", "txt"])
    def test_with_a_header(self, views, tmp_path, written, suffix):
        paths = [tmp_path / f"{name}.{suffix}" for name in "ab"]
        for view, path in zip(views, paths, strict=True):
            WRITTEN[written](view, path)
        sentence, *read = advice(*paths)
        assert sentence.startswith(f"{paths[0]} and {paths[1]} are tables of numbers, and scca fit reads only text")
        for view, found in zip(views, read, strict=True):
            assert found.columns.str.strip().tolist() == view.columns.tolist()
            assert np.array_equal(found, view)

    @pytest.mark.parametrize("written", WITHOUT_HEADER)
    @pytest.mark.parametrize("has_labels", [False, True])
    def test_without_a_header(self, views, tmp_path, written, has_labels):
        paths = [tmp_path / f"{name}.csv" for name in "ab"]
        for view, path in zip(views, paths, strict=True):
            view = labelled(view) if has_labels else view
            view.to_csv(path, header=False, index=has_labels, **WITHOUT_HEADER[written])
        for view, found in zip(views, advice(*paths)[1:], strict=True):
            assert np.array_equal(found, view)
            assert (found.index[0] == "s00") == has_labels

    def test_columns_named_by_numbers(self, views, tmp_path):
        """As pandas writes an array, and as tables of years have it."""
        for names, has_labels in (([0, 1, 2], True), ([0, 1, 2], False), ([1990, 1995, 2000], False)):
            views[1].set_axis(names, axis=1).to_csv(tmp_path / "b.csv", index=has_labels)
            *_, Y = advice(tmp_path / "b.csv", tmp_path / "b.csv")
            assert np.array_equal(Y, views[1])
            assert Y.columns.tolist() == [*map(str, names)]

    def test_an_array_of_numpy(self, views, tmp_path):
        np.savetxt(tmp_path / "a.txt", views[0], header="x0 x1 x2 x3")
        np.savetxt(tmp_path / "b.txt", views[1], delimiter=",")
        for view, found in zip(views, advice(tmp_path / "a.txt", tmp_path / "b.txt")[1:], strict=True):
            assert np.array_equal(found, view)

    def test_one_number_per_line(self, views, tmp_path):
        paths = [write_lines(tmp_path / f"{i}.txt", map(str, view.iloc[:, 0])) for i, view in enumerate(views)]
        for view, found in zip(views, advice(*paths)[1:], strict=True):
            assert np.array_equal(found, view.iloc[:, :1])

    @pytest.mark.parametrize("mark", ["", "NA", "nan", "?", "ND"])
    def test_missing_cells(self, views, tmp_path, mark):
        paths = [tmp_path / "a.csv", tmp_path / "b.csv"]
        holes = views[0].mask(np.random.default_rng(1).random(views[0].shape) < 0.1)
        labelled(holes).to_csv(paths[0], na_rep=mark)
        labelled(views[1]).to_csv(paths[1])
        _, X, Y = advice(*paths)
        assert np.allclose(X, holes.fillna(holes.mean()))
        assert np.array_equal(Y, views[1])

    def test_thousands(self, tmp_path):
        rows = [f'"1,{i:03}.5","2,000.25"' for i in range(9)]
        write_lines(tmp_path / "a.csv", ["p,q", *rows])
        write_lines(tmp_path / "b.csv", ["p;q", *(f"1.{i:03},5;2.000,25" for i in range(9))])
        expected = np.array([[1000.5 + i, 2000.25] for i in range(9)])
        for found in advice(tmp_path / "a.csv", tmp_path / "b.csv")[1:]:
            assert np.array_equal(found, expected)

    def test_columns_of_text_and_without_content_are_left_out(self, views, tmp_path):
        more = views[0].assign(group=["treated", "control"] * 20)
        more.to_csv(tmp_path / "a.csv", index=False)
        views[1].assign(nothing=np.nan).to_csv(tmp_path / "b.csv", index=False)
        for view, found in zip(views, advice(tmp_path / "a.csv", tmp_path / "b.csv")[1:], strict=True):
            assert found.columns.tolist() == view.columns.tolist()

    def test_rows_are_paired_by_their_labels(self, views, tmp_path):
        labelled(views[0]).to_csv(tmp_path / "a.csv")
        labelled(views[1]).sample(30, random_state=0).to_csv(tmp_path / "b.csv")
        _, X, Y = advice(tmp_path / "a.csv", tmp_path / "b.csv")
        assert X.index.equals(Y.index)
        assert Y.equals(labelled(views[1]).loc[X.index])
        assert len(Y) == 30

    def test_labels_that_are_not_unique_pair_nothing(self, views, tmp_path):
        for view, path, names in zip(views, (tmp_path / "a.csv", tmp_path / "b.csv"), ("ab", "ba"), strict=True):
            view.set_axis([*names] * 20).to_csv(path)
        for view, found in zip(views, advice(tmp_path / "a.csv", tmp_path / "b.csv")[1:], strict=True):
            assert np.array_equal(found, view)

    def test_compressed(self, views, tmp_path):
        for view, name in zip(views, "ab", strict=True):
            (tmp_path / f"{name}.csv.gz").write_bytes(gzip.compress(view.to_csv(index=False).encode()))
        for view, found in zip(views, advice(tmp_path / "a.csv.gz", tmp_path / "b.csv.gz")[1:], strict=True):
            assert np.array_equal(found, view)

    def test_parquet(self, views, tmp_path):
        views[0].to_parquet(tmp_path / "a.parquet")
        labels = [f"s{i}" for i in range(40)]
        views[1].mask(views[1] > 2).assign(id=labels)[["id", *views[1]]].to_parquet(tmp_path / "b.parquet")
        _, X, Y = advice(tmp_path / "a.parquet", tmp_path / "b.parquet")
        assert X.equals(views[0])
        assert Y.index.tolist() == labels
        assert Y.columns.tolist() == views[1].columns.tolist()
        assert Y.notna().all(axis=None)

    def test_a_table_beside_text(self, views, tmp_path):
        views[1].to_csv(tmp_path / "b.csv", index=False)
        write_lines(tmp_path / "a.en", load_trilingual().en[:40])
        sentence, X, Y = advice(tmp_path / "a.en", tmp_path / "b.csv")
        assert sentence.startswith(f"{tmp_path / 'b.csv'} is a table of numbers")
        assert X.shape[0] == len(Y) == 40

    def test_a_wide_table_is_judged_by_few_lines(self, tmp_path, monkeypatch):
        import scca.cli._refusing as module

        monkeypatch.setattr(module, "_MOST_CHARACTERS", 1 << 12)
        write_lines(tmp_path / "a.csv", [",".join(["0.5"] * 3_000)] * 12)
        assert len(module._first_lines(tmp_path / "a.csv")) == 8
        with pytest.raises(AdvisedError):
            refuse_numbers([tmp_path / "a.csv", tmp_path / "a.csv"], None, None, tmp_path / "m")


class TestOneTable:
    @pytest.mark.parametrize("separator", [",", ";", "\t"])
    def test_named_columns(self, views, tmp_path, separator):
        table = pd.concat(views, axis=1).assign(english=load_trilingual().en[:40], french=load_trilingual().fr[:40])
        table.loc[3, "x1"] = np.nan
        table.to_csv(tmp_path / "t.csv", index=False, sep=separator)
        sentence, X, Y = advice(tmp_path / "t.csv", chosen=("x1", "y0"))
        assert sentence.startswith(f'columns "x1" and "y0" of {tmp_path / "t.csv"} are numbers, and')
        assert X.columns.tolist() == ["x1"]
        assert np.array_equal(X.drop(3), views[0][["x1"]].drop(3))
        assert np.array_equal(Y, views[1][["y0"]])
        assert is_text(tmp_path / "t.csv", chosen=("english", "french"))
        assert is_text(tmp_path / "t.csv", chosen=("english", "x1"))

    def test_all_columns(self, views, tmp_path):
        pd.concat([labelled(view) for view in views], axis=1).to_csv(tmp_path / "t.tsv", sep="\t")
        _, X, Y = advice(tmp_path / "t.tsv")
        assert [*X, *Y] == [*views[0], *views[1]]

    def test_the_only_two(self, views, tmp_path):
        views[0][["x0", "x1"]].to_csv(tmp_path / "t.csv", index=False)
        for chosen in (None, ("x0", "x1")):
            _, X, Y = advice(tmp_path / "t.csv", chosen=chosen)
            assert ([*X], [*Y]) == (["x0"], ["x1"])

    def test_parquet(self, views, tmp_path):
        table = pd.concat(views, axis=1).assign(text="some words")
        table.to_parquet(tmp_path / "t.parquet")
        _, X, Y = advice(tmp_path / "t.parquet", chosen=("x1", "y0"))
        assert X.equals(views[0][["x1"]])
        assert Y.equals(views[1][["y0"]])
        _, X, Y = advice(tmp_path / "t.parquet")
        assert [*X, *Y] == [*views[0], *views[1]]
        assert is_text(tmp_path / "t.parquet", chosen=("x1", "text"))


class TestText:
    """Numbers do not make a table."""

    @pytest.mark.parametrize(
        "lines",
        [
            ["In 1789, 3 of 4 votes were cast", "12 apples, 5 pears", "7,5 % of 1.000", "1, 2, 3 and off"] * 5,
            [*["1999", "2000", "17"] * 3, *["the year after", "and so on"]] * 5,
            [f"{i}. The chapter begins" for i in range(20)],
            [f"Psalm {i}" for i in range(20)],
            [f"{i:06}" for i in range(20)],
            [f"AB-{i}/{i}" for i in range(20)],
            ["7 101 2054", "101 17 9 8 12", "5", "3 4", "12 8 8 9 3 3 4", "2 1"] * 5,  # words by their codes
            [f"2020-01-{i:02}" for i in range(1, 20)],
            [f"+49 30 {i}; ask for {i}" for i in range(20)],
            ['"', "12", "a stray quote"] * 5,
            ["a line", "12"],
        ],
        ids=lambda lines: lines[0],
    )
    def test_lines(self, tmp_path, lines):
        assert is_text(write_lines(tmp_path / "a", lines), write_lines(tmp_path / "b", lines))

    def test_numerals_beside_words(self, tmp_path):
        words = write_lines(tmp_path / "a", [f"the number {'abcdefgh'[i]}" for i in range(8)])
        assert is_text(words, write_lines(tmp_path / "b", map(str, range(30, 38))))

    def test_two_languages_in_a_table(self, tmp_path):
        corpus = load_trilingual()
        rows = [f"{i}\t{a}\t{b}" for i, (a, b) in enumerate(zip(corpus.en[:30], corpus.fr[:30], strict=True))]
        table = write_lines(tmp_path / "t.tsv", ["id\ten\tfr", *rows])
        assert is_text(table, chosen=("en", "fr"))
        assert is_text(table)
        write_lines(table, ["word\tmate", *(f"Psalm {i}\tPsaume {i}" for i in range(20))])
        assert is_text(table)
        write_lines(table, ["word\tnumeral", *(f"word{i}\t{i}" for i in range(20))])
        assert is_text(table)

    def test_what_cannot_be_read_is_left_to_the_reader(self, tmp_path):
        (tmp_path / "a").write_bytes(b"\xff\xfe1,2\n")
        (tmp_path / "b.parquet").write_bytes(b"PAR1")
        (tmp_path / "c.parquet").mkdir()
        for path in (tmp_path / "a", tmp_path / "b.parquet", tmp_path / "c.parquet", tmp_path / "none.csv"):
            assert is_text(path, path)


class TestCommand:
    def test_the_lines_work_as_they_stand(self, views, tmp_path):
        for view, name in zip(views, "ab", strict=True):
            labelled(view).to_csv(tmp_path / f"{name}.csv", sep=";", decimal=",")
        done = run("fit", "a.csv", "b.csv", "-o", "m.scca", "--components", 1, cwd=tmp_path, check=False)
        assert (done.returncode, done.stdout) == (1, "")
        sentence, *lines = done.stderr.splitlines()
        assert sentence == (
            "scca: a.csv and b.csv are tables of numbers, and scca fit reads only text unless --kind says otherwise; "
            "these lines of Python fit numbers:"
        )
        assert lines == [
            "import pandas",
            "import scca",
            'X = pandas.read_csv("a.csv", decimal=",", index_col=0, sep=";")',
            'Y = pandas.read_csv("b.csv", decimal=",", index_col=0, sep=";")',
            "model = scca.SparseCCA(1).fit(X, Y)",
            'scca.save(model, "m.scca")',
        ]
        assert not (tmp_path / "m.scca").exists()
        subprocess.run([sys.executable, "-c", "\n".join(lines)], cwd=tmp_path, check=True, timeout=300)
        model = scca.load(tmp_path / "m.scca")
        assert model.feature_names_in_.tolist() == views[0].columns.tolist()

    def test_standard_input(self, views, tmp_path):
        views[0].to_csv(tmp_path / "a.csv", index=False)
        piped = (tmp_path / "a.csv").read_bytes()
        done = run("fit", "-", "a.csv", "-o", "m.scca", cwd=tmp_path, check=False, stdin=piped)
        assert done.returncode == 1
        assert "standard input and a.csv are tables of numbers" in done.stderr
        assert 'X = pandas.read_csv("first.csv")  # store what came through the pipe there' in done.stderr

    def test_a_blank_document_is_noted_once(self, tmp_path):
        write_lines(tmp_path / "a.en", ["one cat", "", "a dog"])
        write_lines(tmp_path / "a.fr", ["un chat", "rien ici", "un chien"])
        done = run("fit", "a.en", "a.fr", "-o", "m", "--components", 1, cwd=tmp_path)
        assert done.stderr.count("is empty") == 1
