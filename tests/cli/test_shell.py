"""The command among others in a shell: speed, pipes, exit codes, what it writes and what it sends to a terminal."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time

import pytest
from commands import COMMAND, refused, run, write_lines

import scca
from scca.cli._terminal import harmless
from scca.datasets import load_trilingual
from scca.readers import PairedText
from scca.text import BilingualModel

HEAVY = ("numpy", "numba", "sklearn", "scipy", "matplotlib", "pandas", "rich")
CHINESE = ["今天天气很好我们去公园", "他昨天买了三本新书", "经济学家讨论了价格问题", "孩子们在学校里学习数学"]
THAI = ["วันนี้อากาศดีมากเราไปสวนสาธารณะ", "เขาซื้อหนังสือใหม่สามเล่มเมื่อวาน", "เด็กเรียนคณิตศาสตร์ที่โรงเรียน"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Two aligned files, the same as a table, and a small model."""
    folder = tmp_path_factory.mktemp("shell")
    corpus = load_trilingual()
    for language in ("en", "fr"):
        write_lines(folder / f"a.{language}", corpus.texts(language)[:30])
    write_lines(
        folder / "t.tsv", ["en\tfr", *(f"{a}\t{b}" for a, b in zip(corpus.en[:30], corpus.fr[:30], strict=True))]
    )
    run("fit", "a.en", "a.fr", "-o", "m.scca", "--components", 2, cwd=folder)
    return folder


def in_bash(line, cwd):
    """A line of Bash in which `scca` is the command."""
    scca_command = " ".join(f"'{word}'" for word in COMMAND)
    program = f'scca() {{ {scca_command} "$@"; }}\n{line}'
    return subprocess.run(["bash", "-c", program], cwd=cwd, capture_output=True, text=True, timeout=120)


class TestSpeed:
    @pytest.mark.parametrize("arguments", [["--version"], ["--help"], ["fit", "--help"], ["fit", "--nope"], ["nope"]])
    def test_what_needs_no_library_loads_none(self, arguments):
        program = (
            "import sys\nfrom scca.cli import main\ntry:\n    main()\nexcept SystemExit:\n    pass\n"
            f"print('loaded', sorted({HEAVY!r} & sys.modules.keys()))"
        ).replace(repr(HEAVY), repr(set(HEAVY)))
        done = subprocess.run([sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=True)
        assert done.stdout.splitlines()[-1] == "loaded []"

    def test_runs_as_a_module(self):
        done = subprocess.run([sys.executable, "-m", "scca", "--version"], capture_output=True, text=True, check=True)
        assert done.stdout == f"scca {scca.__version__}\n"


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs Bash")
class TestPipes:
    @pytest.mark.parametrize(
        "line",
        [
            "scca fit <(cat a.en) <(cat a.fr) --languages en fr --components 2 -o OUT",
            "cat t.tsv | scca fit - --components 2 -o OUT",
            pytest.param("cat a.en | scca fit - a.fr --languages en fr --components 2 -o OUT", marks=pytest.mark.slow),
            pytest.param("scca fit <(cat t.tsv) --components 2 -o OUT", marks=pytest.mark.slow),
        ],
    )
    def test_two_pipes_and_one(self, folder, tmp_path, line):
        done = in_bash(line.replace("OUT", str(tmp_path / "m")), folder)
        assert done.returncode == 0, done.stderr
        assert (tmp_path / "m").read_bytes() == (folder / "m.scca").read_bytes()

    def test_nothing_is_left_in_the_temporary_folder(self, folder, tmp_path):
        (tmp_path / "tmp").mkdir()
        line = f"export TMPDIR={tmp_path}/tmp; cat t.tsv | scca fit - --components 2 -o {tmp_path}/m"
        assert in_bash(line, folder).returncode == 0
        assert list((tmp_path / "tmp").iterdir()) == []

    def test_queries_from_a_pipe(self, folder):
        done = in_bash("scca mates m.scca --queries <(head -3 a.en) --candidates <(head -3 a.fr) --top 1", folder)
        assert done.stdout.count("\n") == 4
        assert "average precision" in done.stderr

    def test_a_format_that_cannot_be_told(self, folder, tmp_path):
        done = in_bash(f"cat a.en | scca fit - -o {tmp_path}/m", folder)
        assert done.returncode == 1
        assert "standard input alone must be a tab-separated table, but its first line has no" in done.stderr
        assert done.stderr.count("\n") == 1

    def test_standard_input_twice(self, folder, tmp_path):
        done = in_bash(f"cat a.en | scca fit - - -o {tmp_path}/m", folder)
        assert done.returncode == 2
        assert "standard input (-) can be read only once" in done.stderr

    def test_places_are_named_as_they_were_given(self, folder, tmp_path):
        done = in_bash(f"printf 'one\\n\\xff\\n' | scca fit - a.fr -o {tmp_path}/m", folder)
        assert "standard input is not UTF-8: byte 0xff at offset 4 (line 2)" in done.stderr


def test_standard_output_of_mates_is_only_the_table(folder):
    done = run("mates", "m.scca", "--queries", "a.en", "--candidates", "a.fr", "--top", 1, cwd=folder)
    assert {line.count("\t") for line in done.stdout.splitlines()} == {4}
    assert done.stderr.count("average precision") == 1


class TestStopWords:
    def test_are_spelt_as_words_are(self, folder, tmp_path):
        write_lines(tmp_path / "stop", ["THE", " Of ", "", "e\u0301te\u0301", "a"])
        done = run(
            *("fit", folder / "a.en", folder / "a.fr", "-o", tmp_path / "m", "--components", 2),
            *("--stop-words", tmp_path / "stop"),
        )
        assert not {"the", "of"} & set(scca.load(tmp_path / "m").vectorizers_[0].words_)
        assert "empty" not in done.stderr

    def test_one_that_matches_nothing_is_said(self, folder, tmp_path):
        write_lines(tmp_path / "stop", ["the", "zzyzx"])
        command = ("fit", folder / "a.en", folder / "a.fr", "-o", tmp_path / "m", "--components", 2, "--stop-words")
        noted = run(*command, tmp_path / "stop").stderr
        assert "1 stop word occurs in no document (first: 'zzyzx'); check the spelling" in noted
        write_lines(tmp_path / "stop", ["the", "le", "a"])
        assert "stop word" not in run(*command, tmp_path / "stop").stderr


class TestScriptsWithoutSpaces:
    @pytest.mark.parametrize("texts", [CHINESE, THAI])
    def test_a_hint_names_the_option(self, tmp_path, texts):
        write_lines(tmp_path / "a.xx", texts)
        write_lines(tmp_path / "a.en", [f"some words of number {'abcd'[i] * 3}" for i in range(len(texts))])
        command = ("fit", tmp_path / "a.en", tmp_path / "a.xx", "-o", tmp_path / "m", "--components", 1)
        noted = run(*command, check=False).stderr
        assert "are long runs of a script without spaces" in noted
        assert "pass --characters" in noted
        assert "without spaces" not in run(*command, "--characters", check=False).stderr

    def test_words_with_spaces_are_left_alone(self, recwarn):
        spaced = ["今天 天气 很好 我们", "昨天 我们 买了 新书", "天气 问题 讨论 学校"]
        english = ["one two three", "two four five", "three four six"]
        BilingualModel(1, held_out=0).fit(PairedText.of(english, spaced))
        assert not [w for w in recwarn if "without spaces" in str(w.message)]


class TestMessagesNameOptions:
    def test_columns(self, tmp_path):
        write_lines(tmp_path / "t.tsv", ["en\tfr\tes", "a\tb\tc"])
        assert "pass --columns with the names of two" in refused("fit", tmp_path / "t.tsv", "-o", tmp_path / "m")
        message = refused("fit", tmp_path / "t.tsv", "--columns", "en", "de", "-o", tmp_path / "m")
        assert "pass --columns with two unique names" in message

    def test_columns_of_lines_and_equal_languages(self, folder, tmp_path):
        command = ("fit", folder / "a.en", folder / "a.fr", "-o", tmp_path / "m")
        assert "--columns en fr is for tables" in refused(*command, "--columns", "en", "fr")
        assert "--languages must be two different names" in refused(*command, "--languages", "en", "en")

    def test_python_keeps_its_own_names(self, folder):
        with pytest.raises(ValueError, match=r"pass columns with the names of two"):
            scca.text.read_pairs(write_lines(folder / "three.tsv", ["en\tfr\tes", "a\tb\tc"]))

    def test_an_ambiguous_word(self, tmp_path):
        texts = ["table one two", "table three four", "one three five", "two four five"]
        model = BilingualModel(1, held_out=0).fit(PairedText.of(texts, texts, ("en", "fr")))
        scca.save(model, tmp_path / "m")
        assert "name its language with --from" in refused("translate", tmp_path / "m", "table")


class TestExitCodes:
    def test_are_told(self):
        told = " ".join(run("--help").stdout.split())
        assert "0 done, 1 the input is at fault, 2 the call is at fault, 130 interrupted" in told

    @pytest.mark.parametrize(
        "arguments",
        [
            ["fit"],
            ["nope"],
            ["fit", "a.en", "a.fr", "--nope"],
            ["fit", "a.en", "a.fr", "--dense", "--paper", "-o", "x"],
            ["fit", "a.en", "a.fr", "--gamma", "1", "-o", "x"],
            ["fit", "a.en", "a.fr", "--words", "9", "--paper", "-o", "x"],
            ["fit", "a.en", "a.fr", "--mu", "much", "-o", "x"],
            ["fit", "a.en", "a.fr", "--characters", "--stop-words", "a.en", "-o", "x"],
            ["generate", "m.scca"],
            ["generate", "m.scca", "a.en", "--text", "bread"],
            ["translate", "m.scca"],
            ["mates", "m.scca", "--queries", "-", "--candidates", "-"],
            ["demo", "--languages", "en", "de", "-o", "x"],
            ["reproduce", "--corpus", "a.en", "a.fr", "--table", "t.tsv", "-o", "x"],
            ["reproduce", "--only", "figure9", "-o", "x"],
            ["reproduce", "--size", "much", "-o", "x"],
        ],
    )
    def test_a_wrong_call_is_2_in_one_line(self, folder, arguments):
        done = run(*arguments, cwd=folder, check=False)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.startswith("scca: ")
        assert done.stderr.count("\n") == 1
        assert not (folder / "x").exists()

    @pytest.mark.parametrize(
        "arguments",
        [["fit", "none.en", "a.fr"], ["explain", "a.en"], ["generate", "m.scca", "--text", "pain", "--from", "de"]],
    )
    def test_wrong_input_is_1(self, folder, arguments):
        assert run(*arguments, cwd=folder, check=False).returncode == 1

    def test_terminated_leaves_nothing_half_written(self, folder, tmp_path):
        program = (
            "import time, scca.persistence as p\n"
            "def slow(array):\n"
            "    print('saving', flush=True); time.sleep(30)\n"
            "p._npy = slow\n"
            "from scca.cli import main; main()"
        )
        process = subprocess.Popen(
            [sys.executable, "-c", program, "fit", folder / "a.en", folder / "a.fr", "-o", tmp_path / "m"],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert process.stdout.readline() == "saving\n"
        time.sleep(0.2)
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=30) == 143
        assert list(tmp_path.iterdir()) == []


class TestNoOutputReplacesAnInput:
    @pytest.fixture
    def files(self, folder, tmp_path):
        for name in ("a.en", "a.fr", "t.tsv", "m.scca"):
            shutil.copy(folder / name, tmp_path)
        os.symlink("a.en", tmp_path / "soft")
        os.link(tmp_path / "a.fr", tmp_path / "hard")
        return tmp_path

    @pytest.mark.parametrize(
        "arguments",
        [
            ["fit", "a.en", "a.fr", "-o", "a.en"],
            ["fit", "a.en", "a.fr", "-o", "./a.fr"],
            ["fit", "a.en", "a.fr", "-o", "soft"],
            ["fit", "a.en", "a.fr", "-o", "hard"],
            ["fit", "t.tsv", "-o", "t.tsv"],
            ["fit", "a.en", "a.fr", "--stop-words", "t.tsv", "-o", "t.tsv"],
            ["report", "m.scca", "-o", "m.scca"],
            ["lexicon", "m.scca", "-o", "m.scca"],
        ],
    )
    def test_files(self, files, arguments):
        before = {path.name: path.read_bytes() for path in files.iterdir()}
        done = run(*arguments, cwd=files, check=False)
        assert done.returncode == 2
        assert "which would be replaced; name another file with -o." in done.stderr
        assert done.stderr.count("\n") == 1
        assert {path.name: path.read_bytes() for path in files.iterdir()} == before

    @pytest.mark.parametrize("name", ["figure1.csv", "README.md"])
    def test_folder(self, files, name):
        (files / "r").mkdir()
        os.rename(files / "a.en", files / "r" / name)
        done = run("reproduce", "--quick", "--corpus", f"r/{name}", "a.fr", "-o", "r", cwd=files, check=False)
        assert done.returncode == 2
        assert "which would be replaced; name another folder with -o" in done.stderr
        assert [path.name for path in (files / "r").iterdir()] == [name]


class TestTexts:
    def test_a_model_and_its_report_without_documents(self, folder, tmp_path):
        text = (folder / "a.fr").read_text(encoding="utf-8").splitlines()
        pages = {}
        for option in ("--texts", "--no-texts"):
            run("report", folder / "m.scca", option, "-o", tmp_path / "r.html")
            pages[option] = (tmp_path / "r.html").read_text(encoding="utf-8")
        shown = [line for line in text if line[:40] in pages["--texts"]]
        assert shown
        assert not [line for line in text if line[:40] in pages["--no-texts"]]
        assert "document 1" in pages["--no-texts"]
        run("fit", "a.en", "a.fr", "-o", tmp_path / "m", "--components", 2, "--no-texts", cwd=folder)
        told = run("explain", tmp_path / "m").stdout
        assert "document" in told
        assert not [line for line in text if line[:40] in told]

    def test_what_is_lost_is_said(self):
        for command in ("fit", "report"):
            assert "number" in run(command, "--help").stdout.partition("--no-texts")[2][:400]


def test_report_to_standard_output(folder, tmp_path):
    done = run("report", "m.scca", "-o", "-", cwd=folder)
    run("report", "m.scca", "-o", tmp_path / "r.html", cwd=folder)
    assert done.stdout == (tmp_path / "r.html").read_text(encoding="utf-8")
    assert done.stderr == ""
    assert not (folder / "-").exists()


class TestNothingRawReachesTheTerminal:
    HOSTILE = "\x1b]52;c;aGk=\x07 \x1b[2J \x9b31m \u202eevil\u2066 \x7f"

    def test_escapes(self):
        assert harmless("a\x1b[2J\x9b\u202e\t\n\udc80é日") == r"a\x1b[2J\x9b\u202e\t\n\udc80é日"

    @staticmethod
    def assert_plain(text):
        assert harmless(text.replace("\n", "").replace("\t", "")) == text.replace("\n", "").replace("\t", "")

    def test_documents_and_file_names(self, folder, tmp_path):
        corpus = load_trilingual()
        name = "c\x1b[2J.fr"
        write_lines(tmp_path / name, [f"{self.HOSTILE} {text}" for text in corpus.fr[:3]])
        write_lines(tmp_path / "q.en", corpus.en[:3])
        for more in ((), ("--json",)):
            command = ("mates", folder / "m.scca", "--queries", tmp_path / "q.en", "--candidates", tmp_path / name)
            done = run(*command, *more)
            self.assert_plain(done.stdout + done.stderr)
        assert r"\x1b" in run(*command, "--top", 1).stdout
        message = refused("explain", tmp_path / "no\x1b[2Jne.scca")
        self.assert_plain(message)
        assert r"\x1b[2J" in message
        done = run("explain", "a", "c\x1b[2J", check=False)  # a mistake that the parser of options finds
        assert done.returncode == 2
        self.assert_plain(done.stderr)

    def test_a_models_own_fields(self, tmp_path):
        corpus = load_trilingual()
        second = [f"{text} {self.HOSTILE}" for text in corpus.fr[:20]]
        model = BilingualModel(2, held_out=0).fit(PairedText.of(corpus.en[:20], second, ("e\x1b[2Jn", "f\u202er")))
        for vectorizer in model.vectorizers_:
            vectorizer.words_ = vectorizer.words_.astype(object) + "\x1b[2J\t\n\x9b"
        scca.save(model, tmp_path / "m")
        commands = (["explain"], ["lexicon"], ["translate", "water"], ["explain", "--json"])
        outputs = []
        for name, *more in commands:
            done = run(name, tmp_path / "m", *more, check=False)
            self.assert_plain(done.stdout + done.stderr)
            outputs.append(done.stdout)
        assert {row.count("\t") for row in outputs[1].splitlines()} == {6}
        told = json.loads(outputs[-1])
        assert told["languages"] == ["e\x1b[2Jn", "f\u202er"]
        assert told["components"][0]["words"][0]["word"].endswith("\x1b[2J\t\n\x9b")

    def test_a_field_with_tabs_stays_in_its_row(self, folder, tmp_path):
        (tmp_path / "c.fr").write_bytes("le\tpain\x0b\x0c\x1d\u2028\u0085\nla maison\n".encode())
        write_lines(tmp_path / "q.en", ["the bread"])
        done = run("mates", folder / "m.scca", "--queries", tmp_path / "q.en", "--candidates", tmp_path / "c.fr",
                   "--from", "en")  # fmt: skip
        assert {line.count("\t") for line in done.stdout.split("\n") if line} == {4}
