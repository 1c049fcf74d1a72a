"""The page docs/vectors: its example runs, prints what the page says, and the answer is the one that was planted."""

import contextlib
import io
import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "vectors" / "README.md"
SEEN = {"astronomy", "court", "election", "farm", "harbour", "hospital", "museum", "orchestra", "railway", "school"}

pytestmark = pytest.mark.skipif(not PAGE.exists(), reason="source distributions have no docs")


@pytest.fixture(scope="module")
def blocks():
    """The example, and the lines that the page says it prints."""
    text = PAGE.read_text(encoding="utf-8")
    code, printed = (re.search(rf"```{kind}\n(.*?)```", text, re.DOTALL)[1] for kind in ("python", "text"))
    return code, printed.splitlines()


@pytest.fixture(scope="module")
def printed(blocks):
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(blocks[0], str(PAGE), "exec"), {})
    return out.getvalue().splitlines()


def numbers(lines):
    return [float(line.split()[0]) for line in lines]


def test_prints_what_the_page_says(blocks, printed):
    expected = blocks[1]
    assert len(printed) == len(expected)
    # components of nearly the same correlation may change places, and a word its rank, where BLAS rounds otherwise
    assert numbers(printed) == pytest.approx(numbers(expected), abs=0.03)
    words = [set(re.findall(r"[a-z]+", " ".join(lines))) for lines in (printed, expected)]
    assert len(words[0] & words[1]) >= 0.9 * len(words[0] | words[1])


def test_strong_components_are_subjects_that_the_encoder_was_shown(printed):
    components = [line for line in printed if "(" in line]
    first = [re.search(r"\((.*)\)", line)[1].split(", ") for line in components[:10]]
    subjects = [max(documents, key=documents.count) for documents in first]
    assert set(subjects) == SEEN
    assert all(documents.count(subject) >= 2 for documents, subject in zip(first, subjects, strict=True))


def test_words_of_subjects_it_was_not_shown_are_not_predicted(printed):
    weights = {line.split()[1]: float(line.split()[0]) for line in printed if "(" not in line}
    unseen = {"bank", "volcano", "goal", "flour"}
    assert max(weights[word] for word in unseen) < min(weights[word] for word in set(weights) - unseen) - 0.2
