"""Odd calls: each is answered by one sentence, in the terms of the command line, before any work."""

import os
import re
import signal
import subprocess
import time

import numpy as np
import pytest
from commands import COMMAND, refused, run, write_lines

from scca.datasets import load_trilingual

INPUT = object()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Two aligned files, and a small model."""
    folder = tmp_path_factory.mktemp("odd")
    corpus = load_trilingual()
    for language in ("en", "fr"):
        write_lines(folder / f"a.{language}", corpus.texts(language)[:30])
    run("fit", "a.en", "a.fr", "-o", "m.scca", "--components", 2, cwd=folder)
    return folder


def fit(folder, *options):
    return ("fit", folder / "a.en", folder / "a.fr", "--components", 2, *options)


class TestWords:
    """No message of a command mentions X, Y, samples, or parameters without an option."""

    def test_too_many_components(self, folder, tmp_path):
        message = refused("fit", folder / "a.en", folder / "a.fr", "--components", 30, "-o", tmp_path / "m")
        assert "`--components` upper bound is 29, one less than the number of documents. Got 30 instead." in message

    def test_too_few_words(self, tmp_path):
        write_lines(tmp_path / "a", ["one two", "two three", "one three", "one two three"])
        message = refused("fit", tmp_path / "a", tmp_path / "a", "--components", 3, "--stop-words", tmp_path / "s")
        assert "does not exist" in message
        write_lines(tmp_path / "s", ["three"])
        message = refused(
            *("fit", tmp_path / "a", tmp_path / "a", "--components", 3, "--stop-words", tmp_path / "s"),
            *("-o", tmp_path / "m"),
        )
        assert "upper bound is 2 words of the first language. Got 3 instead." in message

    def test_a_document_without_a_known_word(self, folder, tmp_path):
        lines = (folder / "a.en").read_text(encoding="utf-8").splitlines()
        write_lines(tmp_path / "a.en", ["zzyzx", *lines[1:]])
        noted = run("fit", tmp_path / "a.en", folder / "a.fr", "--components", 2, "-o", tmp_path / "m").stderr
        assert "en has 1 document without any word that is read (first: document 1)" in noted
        assert "lower --min-df" in noted
        assert "sample" not in noted

    def test_pairs_that_are_none(self, folder, tmp_path):
        lines = (folder / "a.en").read_text(encoding="utf-8").splitlines()
        write_lines(tmp_path / "a.en", np.random.default_rng(0).permutation(lines).tolist())
        noted = run("fit", tmp_path / "a.en", folder / "a.fr", "--components", 2, "-o", tmp_path / "m").stderr
        assert "these 30 pairs cannot tell whether they share more than chance" in noted

    def test_penalties_that_leave_nothing(self, folder, tmp_path):
        noted = run(*fit(folder, "--mu", "1e9", "-o", tmp_path / "m")).stderr
        assert "2 of 2 components show no feature of one of the views; lower --mu." in noted
        noted = run(*fit(folder, "--mu", "1e9", "--sparse", "-o", tmp_path / "m")).stderr
        assert "2 of 2 components have no weight in one of the views; lower --mu." in noted
        noted = run(*fit(folder, "--mu", "1e9", "--paper", "-o", tmp_path / "m")).stderr
        assert "one is made with --mu 0." in noted
        assert "e fixed" not in noted

    def test_a_penalty_that_is_too_small(self, folder, tmp_path):
        """The warning comes from threads, which must name settings as the command line does."""
        noted = run(*fit(folder, "--mu", "1e-300", "-o", tmp_path / "m")).stderr
        assert "rounding error prevents a smaller gap: raise --mu." in noted
        assert "tol" not in noted

    def test_no_word_at_all(self, tmp_path):
        write_lines(tmp_path / "a", ["a b", "c d", "e f"])
        message = refused("fit", tmp_path / "a", tmp_path / "a", "-o", tmp_path / "m")
        assert "the documents contain no word of two letters or more: pass texts of words, or --char" in message
        message = refused("reproduce", "--corpus", *[tmp_path / "a"] * 2, "-o", tmp_path / "r")
        assert "the documents contain no word" in message

    def test_one_pair(self, tmp_path):
        write_lines(tmp_path / "a", ["one two"])
        assert "needed; got 1: add some." in refused("fit", tmp_path / "a", tmp_path / "a", "-o", tmp_path / "m")


class TestStatus:
    """1 is for the input, 2 for the call."""

    @pytest.mark.parametrize("option", ["--languages", "--columns"])
    @pytest.mark.parametrize("names", [("en", "en"), ("", "fr")])
    def test_names_that_do_not_differ(self, folder, tmp_path, option, names):
        done = run(*fit(folder, option, *names, "-o", tmp_path / "m"), check=False)
        assert done.returncode == 2
        assert f"{option} must be two different names; got {names[0] or repr('')} {names[1]}." in done.stderr

    @pytest.mark.parametrize(
        ("options", "sentence"),
        [
            (("--mu", "0"), '--mu must be "auto", "auto*FACTOR" or a number greater than 0; got 0.'),
            (("--mu", "inf"), '--mu must be "auto", "auto*FACTOR" or a number greater than 0; got inf.'),
            (("--mu", ""), "got ''."),
            (("--paper", "--gamma", "auto*0"), "a number greater than 0; got 'auto*0'."),
            (("--paper", "--gamma", "-1"), "or a number of at least 0; got -1."),
            (("--dense", "--mu", "2"), "--mu is not for --dense, which selects no words; got --mu 2"),
            (("--seed", "-1"), "Invalid value for '--seed'"),
            (("--seed", "4294967296"), "Invalid value for '--seed'"),
        ],
    )
    def test_values(self, folder, tmp_path, options, sentence):
        done = run(*fit(folder, *options, "-o", tmp_path / "m"), check=False)
        assert done.returncode == 2
        assert done.stderr.count("\n") == 1
        assert sentence in done.stderr

    def test_a_demonstration_of_one_language(self, tmp_path):
        done = run("demo", "--languages", "en", "en", "-o", tmp_path / "d", check=False)
        assert (done.returncode, done.stderr) == (2, "scca: --languages must be two different names; got en en.\n")

    @pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is always full")
    @pytest.mark.parametrize("call", [["--help"], ["--version"], ["fit", "--help"]])
    def test_help_without_room(self, call):
        with open("/dev/full", "w") as full:
            done = subprocess.run([*COMMAND, *call], stdout=full, stderr=subprocess.PIPE, text=True)
        assert (done.returncode, done.stderr) == (1, "scca: no space left on device.\n")

    def test_a_model_to_standard_output(self, folder, tmp_path):
        done = run(*fit(folder, "-o", "-"), check=False, cwd=tmp_path)
        assert done.returncode == 2
        assert "fit writes the model to a file, not to standard output; name one with -o." in done.stderr
        assert not list(tmp_path.iterdir())

    @pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="needs permissions, which root has")
    def test_a_file_that_may_not_be_read(self, folder, tmp_path):
        write_lines(tmp_path / "secret", ["text"]).chmod(0)
        for call in (("fit", tmp_path / "secret", folder / "a.fr", "-o", tmp_path / "m"), ("explain", "secret")):
            done = run(*call, check=False, cwd=tmp_path)
            assert done.returncode == 1
            assert "may not be read by this user; change its permissions" in done.stderr


class TestBeforeTheWork:
    def test_a_name_without_room_for_its_draft(self, folder, tmp_path):
        message = refused("report", folder / "m.scca", "-o", tmp_path / ("y" * 250))
        assert "has 250 bytes, where 240 are allowed; choose a shorter one." in message
        run("report", folder / "m.scca", "-o", tmp_path / ("y" * 240))

    @pytest.mark.parametrize(
        "call",
        [("fit", "none.en", "none.fr"), ("lexicon", "none.scca"), ("report", "none.scca")],
        ids=lambda call: call[0],
    )
    @pytest.mark.parametrize(
        ("output", "sentence"),
        [
            ("missing/file", "missing does not exist; make it first."),
            ("folder", "folder is a folder; name a file in it."),
            ("text/file", "text is a file, not a folder; name a file in a folder."),
            ("text/below/file", "text is a file, not a folder; name a file in a folder."),
            (INPUT, "which would be replaced; name another file with -o."),
        ],
        ids=["missing", "folder", "below a file", "far below a file", "input"],
    )
    def test_a_file_that_cannot_be_written(self, tmp_path, call, output, sentence):
        """The inputs do not exist, which is not even seen."""
        (tmp_path / "folder").mkdir()
        (tmp_path / "text").write_text("text")
        output = call[1] if output is INPUT else output
        assert refused(*call, "-o", output, cwd=tmp_path).endswith(sentence)
        assert sorted(path.name for path in tmp_path.iterdir()) == ["folder", "text"]
        assert (tmp_path / "text").read_text() == "text"

    def test_a_fit_whose_steps_would_replace_an_input(self, tmp_path):
        message = refused("fit", "m.scca.partial", "a.fr", "-o", "m.scca", cwd=tmp_path)
        assert "m.scca.partial is the input m.scca.partial, which would be replaced" in message

    @pytest.mark.parametrize(
        ("made", "output", "sentence"),
        [
            ("text", "text", "text is a file; name a folder."),
            ("text", "text/below", "text is a file; name a folder."),
            ("r/work", "r", "work is a file; name a folder."),
            ("r/index.html/", "r", "index.html is a folder, but a result has this name; name another folder with -o."),
            ("r/table1.csv/", "r", "table1.csv is a folder, but a result has this name; name another folder with -o."),
        ],
    )
    def test_a_reproduction_that_cannot_be_written(self, tmp_path, made, output, sentence):
        path = tmp_path / made
        path.parent.mkdir(exist_ok=True)
        if made.endswith("/"):
            path.mkdir()
        else:
            path.write_text("text")
        call = ("reproduce", "--corpus", "none.en", "none.fr", "-o", output)
        assert refused(*call, cwd=tmp_path).endswith(sentence)
        assert path.is_dir() or path.read_text() == "text"

    @pytest.mark.parametrize("name", ["model.scca", "report.html", "words.tsv", "sparsity.png"])
    def test_a_demonstration_with_a_folder_in_the_place_of_a_file(self, tmp_path, monkeypatch, name):
        from scca.cli import _demo
        from scca.cli._terminal import Terminal

        monkeypatch.setattr(_demo, "BilingualModel", None)  # nothing is learnt
        (tmp_path / name).mkdir()
        with pytest.raises(IsADirectoryError, match=f"{name} is a folder; name a file in it"):
            _demo.run_demo(tmp_path, ("en", "fr"), None, 0, Terminal())

    def test_a_demonstration_without_a_folder(self, tmp_path):
        (tmp_path / "file").write_text("text")
        assert "file is a file; name a folder." in refused("demo", "-o", tmp_path / "file" / "below")
        if os.name != "nt" and os.geteuid() != 0:
            tmp_path.chmod(0o500)
            assert "cannot be written to; choose another." in refused("demo", "-o", tmp_path / "new")


def test_a_narrow_terminal_cuts_nothing(folder, monkeypatch, capsys):
    from scca.cli._terminal import Terminal

    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setenv("FORCE_COLOR", "1")
    text = "derrière incontestablement anticonstitutionnellement"
    Terminal().table(("query", "rank", "similarity", "candidate", "text"), [("1", "1", "0.893", "1", text)])
    shown = capsys.readouterr().out
    assert "…" not in shown
    assert max(map(len, re.sub(r"\x1b\[[0-9;]*m", "", shown).splitlines())) <= 40


class TestInput:
    def test_an_endless_pipe(self, folder, tmp_path):
        program = f"import scca.readers._files as files; files._MOST_PIPED = 2**20; {COMMAND[2]}"
        zeros = subprocess.Popen(["cat", "/dev/zero"], stdout=subprocess.PIPE)
        done = subprocess.run(
            [COMMAND[0], "-c", program, "fit", "-", folder / "a.fr", "-o", tmp_path / "m"],
            stdin=zeros.stdout,
            capture_output=True,
            text=True,
            env={**os.environ, "TMPDIR": str(tmp_path)},
        )
        zeros.kill()
        zeros.wait()
        zeros.stdout.close()
        assert done.returncode == 1
        assert "standard input has more than 1 MiB, the limit for a pipe; write it" in done.stderr
        assert not list(tmp_path.iterdir())

    @pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="needs a terminal that can hang up")
    @pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP"])
    def test_a_copy_of_a_pipe_does_not_stay(self, folder, tmp_path, name):
        if signal.getsignal(getattr(signal, name)) is signal.SIG_IGN:
            pytest.skip(f"{name} is ignored here, as `nohup` has it, and so by the command")
        started = subprocess.Popen(
            [*COMMAND, "fit", "-", folder / "a.fr", "-o", tmp_path / "m"],
            stdin=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, "TMPDIR": str(tmp_path)},
        )
        with started:
            deadline = time.monotonic() + 60
            while not list(tmp_path.glob("scca-*")) and time.monotonic() < deadline:
                time.sleep(0.05)
            assert list(tmp_path.glob("scca-*"))
            started.send_signal(getattr(signal, name))
            assert started.wait(60) == 128 + getattr(signal, name)
        assert not list(tmp_path.iterdir())

    def test_no_word_to_translate(self, folder, tmp_path):
        write_lines(tmp_path / "words", ["", " "])
        message = refused("translate", folder / "m.scca", "--words", tmp_path / "words")
        assert "words contains no word; write one per line." in message

    def test_a_long_word_is_quoted_in_part(self, folder):
        assert len(refused("translate", folder / "m.scca", "x" * 5000)) < 250

    def test_tables_of_one_column_and_of_many(self, tmp_path):
        write_lines(tmp_path / "t.csv", ["en;fr", "a;b"])
        assert "has 1 column ('en;fr'), but two are needed" in refused("fit", tmp_path / "t.csv", "-o", tmp_path / "m")
        write_lines(tmp_path / "t.tsv", ["\t".join(f"column{i}" for i in range(5000)), "a"])
        message = refused("fit", tmp_path / "t.tsv", "-o", tmp_path / "m")
        assert "has 5000 columns ('column0'," in message
        assert len(message) < 600

    def test_reproduce_can_leave_out_empty_documents(self, folder, tmp_path):
        lines = (folder / "a.en").read_text(encoding="utf-8").splitlines()
        write_lines(tmp_path / "a.en", ["", *lines[1:]])
        call = ("reproduce", "--corpus", tmp_path / "a.en", folder / "a.fr", "--quick", "--only", "figure1")
        done = run(*call, "-o", tmp_path / "r", check=False)
        assert done.returncode == 1
        noted, refusal = done.stderr.splitlines()
        assert "pass --drop-empty" in noted
        assert "document 1 has no word in en, but Figure 1 counts its words; choose another with --query." in refusal
        assert "empty" not in run(*call, "--drop-empty", "-o", tmp_path / "s").stderr
        assert "--drop-empty" in (tmp_path / "s" / "manifest.json").read_text(encoding="utf-8")
