"""The command on real files: in this process, and in one of its own where signals, pipes and devices count."""

import gzip
import importlib.util
import json
import os
import resource
import signal
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest
from commands import COMMAND, refused, run, run_process, write_lines
from subprocesses import start_program

import scca
from scca.datasets import load_trilingual


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Two aligned files to learn from, two to try, and a fitted model."""
    folder = tmp_path_factory.mktemp("corpus")
    corpus = load_trilingual()
    for language in ("en", "fr"):
        write_lines(folder / f"train.{language}", corpus.texts(language)[:80])
        write_lines(folder / f"test.{language}", corpus.texts(language)[80:110])
    run("fit", "train.en", "train.fr", "-o", "model.scca", "--components", 40, cwd=folder)
    return folder


class TestFit:
    def test_writes_a_model_that_python_reads(self, folder):
        model = scca.load(folder / "model.scca")
        assert model.languages_ == ("en", "fr")
        assert model.scca_.n_components_ == 40

    def test_json_and_options(self, folder, tmp_path):
        done = run(
            *("fit", folder / "train.en", folder / "train.fr", "-o", tmp_path / "m.scca", "--json", "--quiet"),
            *("--components", 5, "--languages", "anglais", "français", "--min-df", 2, "--mu", "auto*0.5", "--no-texts"),
        )
        result = json.loads(done.stdout)
        assert result["languages"] == ["anglais", "français"]
        assert result["components"] == 5
        assert done.stderr == ""
        model = scca.load(tmp_path / "m.scca")
        assert model.texts_ is None
        assert model.mu == "auto*0.5"

    def test_table(self, folder, tmp_path):
        corpus = load_trilingual()
        rows = [f"{a}\t{b}" for a, b in zip(corpus.en[:30], corpus.es[:30], strict=True)]
        write_lines(tmp_path / "pairs.tsv", ["english\tspanish", *rows])
        run("fit", "pairs.tsv", "--columns", "english", "spanish", "-o", "m.scca", "--components", 3, cwd=tmp_path)
        assert scca.load(tmp_path / "m.scca").languages_ == ("english", "spanish")

    def test_gzip(self, folder, tmp_path):
        for language in ("en", "fr"):
            with gzip.open(tmp_path / f"t.{language}.gz", "wb") as file:
                file.write((folder / f"train.{language}").read_bytes())
        run("fit", "t.en.gz", "t.fr.gz", "-o", "m.scca", "--components", 3, cwd=tmp_path)
        assert scca.load(tmp_path / "m.scca").languages_ == ("en", "fr")

    def test_same_seed_same_bytes(self, folder, tmp_path):
        """The seed draws the pairs left out, and nothing else."""
        for name, seed in (("a", 3), ("b", 3), ("c", 4)):
            run(
                *("fit", folder / "train.en", folder / "train.fr", "-o", tmp_path / name, "--components", 4),
                *("--seed", seed),
            )
        assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
        a, c = (scca.load(tmp_path / name).scca_ for name in ("a", "c"))
        assert a.held_out_correlations_.tolist() != c.held_out_correlations_.tolist()
        assert a.x_weights_.tolist() == c.x_weights_.tolist()

    def test_stop_words(self, folder, tmp_path):
        write_lines(tmp_path / "stop", ["the", "of"])
        run(
            *("fit", folder / "train.en", folder / "train.fr", "-o", tmp_path / "m", "--components", 2),
            *("--stop-words", tmp_path / "stop"),
        )
        assert "of" not in scca.load(tmp_path / "m").vectorizers_[0].words_


class TestMates:
    def test_aligned_files_give_the_average_precision(self, folder):
        done = run("mates", "model.scca", "--queries", "test.en", "--candidates", "test.fr", "--json", cwd=folder)
        result = json.loads(done.stdout)
        model = scca.load(folder / "model.scca")
        texts = [(folder / f"test.{x}").read_text(encoding="utf-8").splitlines() for x in ("en", "fr")]
        expected = model.average_precision(*texts)
        assert result["average_precision"] == pytest.approx(expected.average_precision)
        assert result["en_to_fr"] == pytest.approx(expected.a_to_b)
        assert result["average_precision"] > 0.3
        assert [m["candidates"][0]["index"] for m in result["mates"]] == [
            int(i) for i in model.mates(*texts, source="en", top=1).indices[:, 0]
        ]

    def test_other_direction_is_found_from_the_words_and_said(self, folder):
        done = run("mates", "model.scca", "--queries", "test.fr", "--candidates", "test.en", "--top", 1, cwd=folder)
        assert "queries taken to be fr" in done.stderr
        assert "average precision" in done.stderr

    def test_unknown_words_are_said(self, folder, tmp_path):
        write_lines(tmp_path / "q", ["zzyzx qwrt", load_trilingual().en[0]])
        done = run(
            *("mates", folder / "model.scca", "--queries", tmp_path / "q", "--candidates", folder / "test.fr"),
            *("--from", "en", "--json"),
        )
        assert "1 query has no known en word (line 1); it ties with everything" in done.stderr
        first = json.loads(done.stdout)["mates"][0]
        assert not first["known"]
        assert {candidate["similarity"] for candidate in first["candidates"]} == {0.0}

    @pytest.mark.parametrize("more", [("--json",), ("--top", 50)])
    def test_blocks_of_queries_do_not_show(self, folder, more, monkeypatch):
        import scca.cli._printed_mates as mates
        import scca.model._mates as search

        command = ("mates", "model.scca", "--queries", "test.en", "--candidates", "test.fr", *more)
        whole = run(*command, cwd=folder)
        stream = mates.stream_documents
        monkeypatch.setattr(search, "_BLOCK", 7)
        monkeypatch.setattr(mates, "stream_documents", lambda path, **options: stream(path, 7, **options))
        blocks = run(*command, cwd=folder)
        assert (blocks.stdout, blocks.stderr) == (whole.stdout, whole.stderr)

    def test_answers_come_before_all_queries_are_read(self, folder):
        command = [*COMMAND, "mates", "model.scca", "--queries", "-", "--candidates", "test.fr", "--from", "en"]
        process = subprocess.Popen(command, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        process.stdin.write(b"bread and water\n" * 5000)
        process.stdin.flush()
        assert process.stdout.readline().startswith(b"query\t")
        rest, _ = process.communicate(b"the judge\n")
        assert rest.splitlines()[-1].startswith(b"5001\t3\t")

    def test_approximate(self, folder):
        command = ("mates", "model.scca", "--queries", "test.en", "--candidates", "test.fr", "--from", "en", "--json")
        if importlib.util.find_spec("faiss") is None:
            assert refused(*command, "--approximate", cwd=folder).endswith("pip install 'scca[index]'.")
            return
        result, exact = (json.loads(run(*command, *more, cwd=folder).stdout) for more in (("--approximate",), ()))
        assert result["recall"] == 1  # so few candidates are all searched
        assert [m["candidates"][0]["index"] for m in result["mates"]] == [
            m["candidates"][0]["index"] for m in exact["mates"]
        ]

    def test_pipe_that_closes_early(self, folder):
        program = f"{' '.join(map(_quoted, COMMAND))} mates model.scca --queries test.en --candidates test.fr | head -1"
        done = subprocess.run(program, shell=True, cwd=folder, capture_output=True, text=True)
        assert "Traceback" not in done.stderr


def _quoted(text):
    return f"'{text}'"


class TestGenerate:
    def test_file_and_text(self, folder):
        by_file = json.loads(run("generate", "model.scca", "test.fr", "--json", cwd=folder).stdout)
        assert len(by_file) == 30
        assert by_file[0]["language"] == "en"
        assert by_file[0]["words"]
        text = run("generate", "model.scca", "--text", "le pain et le four", "--from", "fr", cwd=folder).stdout
        assert text.startswith("query\ten words\t")

    def test_as_many_words_as_asked_for(self, folder):
        command = ("generate", "model.scca", "test.en", "--from", "en", "--json")
        made = json.loads(run(*command, "--top", 5, cwd=folder).stdout)
        assert {len(item["words"]) for item in made} == {5}
        assert {(item["mu"], item["dual_gap"]) for item in made} == {(None, None)}
        assert "--mu is for models with --paper; got --mu auto*2: set --top" in refused(
            *command, "--mu", "auto*2", cwd=folder
        )

    def test_more_penalty_fewer_words_of_the_papers_model(self, folder, tmp_path):
        model = tmp_path / "paper.scca"
        run("fit", "train.en", "train.fr", "-o", model, "--components", 5, "--paper", cwd=folder)
        query = (folder / "test.en").read_text(encoding="utf-8").splitlines()[0]
        command = ("generate", model, "--text", query, "--from", "en", "--json", "--mu")
        few, many = (json.loads(run(*command, mu, cwd=folder).stdout)[0]["words"] for mu in ("auto*3", "auto*0.5"))
        assert 0 < len(few) < len(many)


class TestExplainAndReport:
    def test_explain(self, folder):
        result = json.loads(run("explain", "model.scca", "--components", 3, "--json", cwd=folder).stdout)
        model = scca.load(folder / "model.scca")
        assert [c["correlation"] for c in result["components"]] == pytest.approx(model.scca_.correlations_[:3])
        assert result["components"][0]["words"][0]["word"] == model.components()[0].words[0].name
        assert "component 1: correlation" in run("explain", "model.scca", cwd=folder).stdout

    def test_explain_lists_words_by_loading_which_it_shows_first(self, folder):
        shown = run("explain", "model.scca", "--components", 1, "--top", 3, cwd=folder).stdout
        assert "\nloading (weight): the loading says how closely a word goes with the component" in shown
        first = scca.load(folder / "model.scca").components()[0]
        for language, words in (("en", first.words), ("fr", first.mate_words)):
            listed = "  ".join(f"{word.name} {word.loading:+.2f} ({word.weight:+.2f})" for word in words[:3])
            assert f"\n  {language} words, loading (weight): {listed}\n" in shown
        views = scca.load(folder / "model.scca").result().components[0].views
        (en, fr) = (view.samples[0] for view in views)
        assert f"\n  document {en.index + 1}, score: en {en.score:+.3f}, fr {fr.score:+.3f}\n    en: " in shown

    def test_words_of_the_papers_model_have_weights_alone(self, folder, tmp_path):
        model = tmp_path / "paper.scca"
        run("fit", "train.en", "train.fr", "-o", model, "--components", 1, "--paper", cwd=folder)
        shown = run("explain", model, "--top", 1).stdout
        word = scca.load(model).components()[0].words[0]
        assert f"\n  en words, weight: {word.name} {word.weight:+.2f}\n" in shown
        assert "loading" not in shown

    def test_report(self, folder, tmp_path):
        run("report", folder / "model.scca", "-o", tmp_path / "r.html")
        page = (tmp_path / "r.html").read_text(encoding="utf-8")
        assert page.count("<details") == 40
        assert "<svg" in page


def test_demo(tmp_path):
    done = run("demo", "--json", "--components", 30, cwd=tmp_path)
    result = json.loads(done.stdout)
    assert result["chance_average_precision"] < 0.15 < 0.9 < result["average_precision"]
    assert result["dense_average_precision"] > 0.9
    assert result["average_precision"] > result["kernel_cca_average_precision"] - 0.02
    assert result["words_read"] == scca.load(tmp_path / "scca-demo" / "model.scca").scca_.n_read_
    assert result["words_used"] == result["words_read"][0] <= result["words"]
    assert result["generated_in_true_mate"] > 6
    left = tmp_path / "scca-demo"
    assert sorted(p.name for p in left.iterdir()) == ["model.scca", "report.html", "sparsity.png", "words.tsv"]
    header, *rows = (line.split("\t") for line in (left / "words.tsv").read_text(encoding="utf-8").splitlines())
    mates = {entry["word"]: entry["translation"] for row in rows if (entry := dict(zip(header, row, strict=True)))}
    assert len(result["lexicon"]) == 10
    assert all(mates[pair["word"]] == pair["translation"] for pair in result["lexicon"])


def test_demo_says_how_many_words_each_method_reads(tmp_path):
    said = run("demo", "--components", 3, cwd=tmp_path).stdout
    estimator = scca.load(tmp_path / "scca-demo" / "model.scca").scca_
    n_read, n_words = estimator.n_read_[0], estimator.n_features_[0]
    rows = {row[0]: row[1:] for line in said.splitlines() if len(row := line.split("\t")) == 3}
    assert list(rows)[-4:] == ["the words it reads", "all words", "kernel CCA", "chance"]
    assert rows["the words it reads"][0] == f"{n_read} of {n_words}"
    assert rows["all words"][0] == rows["kernel CCA"][0] == f"{n_words} of {n_words}"
    assert f"\nthe model reads {'all' if n_read == n_words else f'{n_read:,} of'} {n_words:,} en words and " in said


class TestMistakes:
    def test_candidates_in_the_language_of_the_queries(self, folder):
        done = run("mates", "model.scca", "--queries", "test.en", "--candidates", "test.en", "--from", "en", cwd=folder)
        assert "the candidates look like en, not fr; check the files" in done.stderr

    def test_messages_speak_of_options(self, folder, tmp_path):
        write_lines(tmp_path / "a.en", ["one cat", "", "a dog"])
        write_lines(tmp_path / "a.fr", ["un chat", "rien ici", "un chien"])
        done = run("fit", tmp_path / "a.en", tmp_path / "a.fr", "-o", tmp_path / "m", "--components", 1)
        assert "pass --drop-empty to leave such pairs out" in done.stderr

    def test_output_is_checked_before_the_work(self, folder, tmp_path):
        message = refused("fit", "missing.en", "missing.fr", "-o", tmp_path / "no" / "m.scca")
        assert "does not exist; make it first" in message

    def test_a_pipe_gets_one_line_a_row(self, folder):
        done = run("mates", "model.scca", "--queries", "test.en", "--candidates", "test.fr", "--top", 1, cwd=folder)
        rows = [line.split("\t") for line in done.stdout.splitlines()]
        assert rows[0] == ["query", "rank", "similarity", "candidate", "text"]
        assert [row[0] for row in rows[1:]] == [str(i) for i in range(1, 31)]

    @pytest.mark.parametrize("seconds", [0.02, 0.1, 0.3, 0.6])
    def test_interrupted_while_libraries_load(self, seconds):
        """Those of the command line first, then scikit-learn, which take more than a second."""
        program = "from scca.cli import main; print('started', flush=True); main()"
        process = start_program(program, "explain", "none.scca")
        assert process.stdout.readline() == "started\n"
        time.sleep(seconds)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
        if "none.scca" in errors:  # this machine was faster; -SIGINT: Python itself was ending
            assert process.returncode in (1, -signal.SIGINT)
        else:
            assert (process.returncode, errors) == (130, "scca: interrupted; no file is left half-written.\n")

    @pytest.mark.parametrize("error", ["ImportError('initialization failed')", "SystemError('no exception set')"])
    @pytest.mark.parametrize("library", ["typer", "sklearn"])
    def test_interrupted_where_a_library_makes_another_error_of_it(self, tmp_path, library, error):
        """As compiled libraries do that are interrupted while they load."""
        loading = f"""
            import signal
            try:
                signal.raise_signal(signal.SIGINT)
            except KeyboardInterrupt as interrupt:
                raise {error} from interrupt
        """
        (tmp_path / f"{library}.py").write_text(textwrap.dedent(loading))
        program = "from scca.cli import main; main()"
        process = start_program(program, "explain", "none.scca", PYTHONPATH=str(tmp_path))
        _, errors = process.communicate(timeout=60)
        assert (process.returncode, errors) == (130, "scca: interrupted; no file is left half-written.\n")

    @pytest.mark.parametrize("library", ["typer", "sklearn"])
    def test_terminated_where_a_library_makes_another_error_of_it(self, tmp_path, library):
        loading = """
            import signal
            try:
                signal.raise_signal(signal.SIGTERM)
            except SystemExit as exit:
                raise ImportError("initialization failed") from exit
        """
        (tmp_path / f"{library}.py").write_text(textwrap.dedent(loading))
        program = "from scca.cli import main; main()"
        folders = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
        process = start_program(program, "explain", "none.scca", PYTHONPATH=folders)
        _, errors = process.communicate(timeout=60)
        assert (process.returncode, errors) == (143, "scca: terminated; no file is left half-written.\n")


class TestHelp:
    @pytest.mark.parametrize(
        "command", ["fit", "mates", "generate", "translate", "lexicon", "explain", "report", "demo"]
    )
    def test_every_command_has_an_example(self, command):
        text = run(command, "--help").stdout
        assert "Example: scca " + command in text
        for option in ("--seed", "--quiet", "--debug"):
            assert option in text

    def test_version(self):
        assert run("--version").stdout == f"scca {scca.__version__}\n"


class TestRefused:
    def test_files(self, folder, tmp_path):
        assert "none.en" in refused("fit", "none.en", folder / "train.fr", cwd=tmp_path)
        write_lines(tmp_path / "short.fr", ["un", "deux"])
        message = refused("fit", folder / "train.en", tmp_path / "short.fr")
        assert "80" in message
        assert "2" in message
        (tmp_path / "bad.en").write_bytes(b"one\ntw\xff\n")
        assert "byte" in refused("fit", tmp_path / "bad.en", folder / "train.fr")

    def test_model(self, folder, tmp_path):
        (tmp_path / "m.scca").write_bytes(b"hello")
        message = refused("explain", tmp_path / "m.scca")
        assert message.startswith("scca: ")
        assert message.endswith("m.scca is not a model file of scca; name one that scca wrote.")
        content = (folder / "model.scca").read_bytes()
        (tmp_path / "m.scca").write_bytes(content[: len(content) // 2])
        assert refused("explain", tmp_path / "m.scca").endswith("is damaged, incomplete or altered; write it again.")
        shown = run("explain", tmp_path / "m.scca", "--debug", check=False).stderr
        assert "zipfile.BadZipFile: File is not a zip file" in shown
        scca.save(
            scca.SparseCCA(1, held_out=0).fit(*scca.datasets.make_planted(20, 9, 9, n_active=2).views),
            tmp_path / "s.scca",
        )
        command = ("mates", tmp_path / "s.scca", "--queries", folder / "test.en", "--candidates", folder / "test.fr")
        assert "holds a SparseCCA, which reads matrices; use it in Python" in refused(*command)

    def test_language(self, folder):
        message = refused("generate", folder / "model.scca", "--text", "pain", "--from", "de")
        assert "--from must be 'en' or 'fr'; got 'de'" in message
        message = refused("generate", folder / "model.scca", "--text", "zzyzx")
        assert "cannot be detected" in message
        assert message.endswith("name it with --from.")

    def test_values(self, folder):
        files = folder / "train.en", folder / "train.fr"
        assert "--mu must be" in refused("fit", *files, "--mu", "-1", "-o", folder / "x")
        assert "got --gamma 1: add --paper" in refused("fit", *files, "--gamma", "1", "-o", folder / "x")
        assert "`--components` upper bound is 79, one less than the number of documents. Got 500" in refused(
            "fit", *files, "--components", 500, "-o", folder / "x"
        )
        assert not (folder / "x").exists()
        assert "either a file of queries or --text" in refused("generate", folder / "model.scca")

    def test_wrong_usage(self):
        done = run("fit", "--components", "many", "a", "b", check=False)
        assert done.returncode == 2
        assert done.stderr.startswith("scca: Invalid value for '--components'")
        assert done.stderr.endswith("; see scca fit --help.\n")
        assert done.stderr.count("\n") == 1

    def test_output_folder(self, folder, tmp_path):
        message = refused("fit", folder / "train.en", folder / "train.fr", "-o", tmp_path / "no" / "m.scca",
                          "--components", 2, "--quiet")  # fmt: skip
        assert "does not exist; make it first" in message

    def test_debug_shows_the_traceback(self, tmp_path):
        done = run_process("explain", tmp_path / "none.scca", "--debug", check=False)
        assert done.returncode != 0
        assert "Traceback" in done.stderr


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is always full")
def test_full_standard_output(folder):
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [*COMMAND, "explain", str(folder / "model.scca"), "--json"], stdout=full, stderr=subprocess.PIPE, text=True
        )
    assert done.returncode != 0
    assert "no space left on device" in done.stderr.lower()


def test_disk_full_while_saving(folder, tmp_path):
    """A write that the system refuses half-way: one line, and the old model file as it was."""
    output = tmp_path / "m.scca"
    output.write_bytes(b"old")
    done = subprocess.run(
        [*COMMAND, "fit", folder / "train.en", folder / "train.fr", "-o", output, "--components", "5"],
        capture_output=True,
        text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000)),
    )
    assert done.returncode == 1
    assert "m.scca cannot be written (File too large); make room" in done.stderr.strip().splitlines()[-1]
    assert "Traceback" not in done.stderr
    assert output.read_bytes() == b"old"
    assert [p.name for p in tmp_path.iterdir()] == ["m.scca"]


def test_interrupt_leaves_nothing_half_written(folder, tmp_path):
    """Ctrl-C while components are being found: exit 130, one line, the old model file as it was."""
    output = tmp_path / "m.scca"
    output.write_bytes(b"old")
    program = (
        "import time, scca.text._bilingual as m\n"
        "def slow(self, *a, **k):\n"
        "    print('fitting', flush=True); time.sleep(30)\n"
        "m.SparseCCA.fit = slow\n"
        "from scca.cli import main; main()"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", program, "fit", folder / "train.en", folder / "train.fr", "-o", output],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # a shell that runs the tests in the background lets its children ignore Ctrl-C
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    assert process.stdout.readline() == "fitting\n"
    time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "interrupted" in errors
    assert "Traceback" not in errors
    assert output.read_bytes() == b"old"
    assert [p.name for p in tmp_path.iterdir()] == ["m.scca"]


def test_reproduce_writes_results_and_says_what_holds(folder):
    out = run(
        "reproduce", "-o", "r", "--corpus", "test.en", "test.fr", "--quick", "--only", "figure1", "figure3", cwd=folder
    )
    assert "about 142" in out.stdout
    assert "Table 1" not in out.stdout
    assert {"figure1.csv", "figure3.svg", "index.html", "README.md", "manifest.json"} <= set(os.listdir(folder / "r"))
    page = (folder / "r" / "README.md").read_text(encoding="utf-8")
    assert "scca reproduce --corpus test.en test.fr --quick" in page
    assert str(folder) not in page + (folder / "r" / "index.html").read_text(encoding="utf-8")
    again = run(
        "reproduce", "-o", "r", "--corpus", "test.en", "test.fr", "--quick", "--only", "figure1", "--json", cwd=folder
    )
    assert json.loads(again.stdout)["experiments"][:2] == ["figure1", "figure2"]


def test_reproduce_killed_goes_on_to_the_same_bytes(folder, tmp_path):
    arguments = ["reproduce", "--corpus", "train.en", "train.fr", "--quick", "--only", "table1"]
    run(*arguments, "-o", tmp_path / "whole", cwd=folder)
    process = subprocess.Popen([*COMMAND, *arguments, "-o", str(tmp_path / "killed")], cwd=folder)
    work = tmp_path / "killed" / "work"
    while len(list(work.glob("*.json")) if work.exists() else []) < 3 and process.poll() is None:
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    run(*arguments, "-o", tmp_path / "killed", cwd=folder)
    for path in (tmp_path / "whole").rglob("*"):
        if path.is_file():
            assert (tmp_path / "killed" / path.relative_to(tmp_path / "whole")).read_bytes() == path.read_bytes()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--only", "figure7"], "no experiment 'figure7'"),
        (["--size", "fifty"], "a size must be TRAIN/TEST, such as 50/250"),
        (["--size", "50/250"], "the size 50/250 needs 300 documents; there are 30"),
        (["--query", "31"], "--query must be at most 30"),
        (["--frequencies", "all"], "--frequencies must be 'training' or 'corpus'"),
        (["--table", "x.tsv"], "either --corpus or --table"),
    ],
)
def test_reproduce_refuses_in_one_line(folder, tmp_path, arguments, sentence):
    line = refused("reproduce", "-o", tmp_path / "r", "--corpus", "test.en", "test.fr", *arguments, cwd=folder)
    assert sentence in line
    assert not (tmp_path / "r").exists()


def test_translate_lists_the_words_of_the_other_language(folder):
    found = json.loads(run("translate", "model.scca", "water", "--json", cwd=folder).stdout)
    assert (found[0]["word"], found[0]["from"], found[0]["to"]) == ("water", "en", "fr")
    assert found[0]["words"][0]["word"] == "eau"
    assert found[0]["words"][0]["weight"] > 0
    table = run("translate", "model.scca", "water", "--top", 2, cwd=folder).stdout
    assert table.startswith(f"water (en, in {found[0]['documents']} documents, trust {found[0]['trust']:.2f}): eau +")
    assert "did you mean water" in refused("translate", "model.scca", "waterr", cwd=folder)


def test_translate_answers_for_the_known_words(folder, tmp_path):
    listed = write_lines(tmp_path / "words.txt", ["water", "", "waterr"])
    done = run("translate", "model.scca", "eau", "--words", listed, cwd=folder, check=False)
    assert done.returncode == 1
    assert [line.split(" ")[0] for line in done.stdout.splitlines()] == ["eau", "water"]
    assert len(done.stderr.splitlines()) == 1
    assert "did you mean water" in done.stderr
    answers = run("translate", "model.scca", "--words", listed, "--json", cwd=folder, check=False)
    assert [item["known"] for item in json.loads(answers.stdout)] == [True, False]
    assert "needs a word" in refused("translate", "model.scca", cwd=folder)
    piped = run("translate", "model.scca", "--words", "-", cwd=folder, stdin=b"water\n")
    assert piped.stderr == ""
    assert piped.stdout.startswith("water (en")


def test_lexicon_writes_a_word_list(folder, tmp_path):
    done = run("lexicon", "model.scca", "-o", tmp_path / "words.tsv", cwd=folder)
    assert done.stdout == ""
    assert "with a trust of 0.9 or more" in done.stderr
    written = (tmp_path / "words.tsv").read_text(encoding="utf-8")
    header, *rows = [line.split("\t") for line in written.splitlines()]
    assert header == ["word", "translation", "trust", "documents", "together", "mutual", "others"]
    assert {row[0]: row[1] for row in rows}["water"] == "eau"
    assert all(len(row) == len(header) for row in rows)
    assert [float(row[2]) for row in rows] == sorted((float(row[2]) for row in rows), reverse=True)
    assert run("lexicon", "model.scca", cwd=folder).stdout == written
    assert run("lexicon", "model.scca", "-o", "-", cwd=folder).stdout == written


def test_lexicon_options(folder, tmp_path):
    options = ("--from", "fr", "--least", 5, "--trust", 0.8, "--top", 2)
    found = json.loads(run("lexicon", "model.scca", *options, "--json", cwd=folder).stdout)
    assert (found["from"], found["to"]) == ("fr", "en")
    assert {pair["word"]: pair["translation"] for pair in found["words"]}["eau"] == "water"
    assert all(p["documents"] >= 5 and p["trust"] >= 0.8 and len(p["words"]) <= 2 for p in found["words"])


def test_lexicon_refuses_in_one_line(folder, tmp_path):
    before = (folder / "model.scca").read_bytes()
    assert "is the input model.scca, which would be replaced; name another file" in refused(
        "lexicon", "model.scca", "-o", "model.scca", cwd=folder
    )
    assert (folder / "model.scca").read_bytes() == before
    assert "does not exist" in refused("lexicon", "model.scca", "-o", tmp_path / "no" / "words.tsv", cwd=folder)
    assert "--from must be" in refused("lexicon", "model.scca", "--from", "de", cwd=folder)
    assert run("lexicon", "model.scca", "--trust", 2, cwd=folder, check=False).returncode == 2


def test_a_model_of_few_words_reads_no_other(folder):
    run("fit", "train.en", "train.fr", "-o", "few.scca", "--words", 40, "--components", 10, cwd=folder)
    model = scca.load(folder / "few.scca").scca_
    for weights in (model.x_feature_weights_, model.y_feature_weights_):
        assert 20 < np.count_nonzero(weights) <= 40  # of 40 chosen, those with a weight
    assert "--words is not for the paper's method" in refused(
        "fit", "train.en", "train.fr", "-o", "no.scca", "--words", 40, "--paper", cwd=folder
    )
