"""Output of the commands for words: translations and word lists."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import typer

from .._files import atomic_write
from .._wording import counted
from ..text import Translation, WordPair, lexicon, linked_languages
from ._inputs import check_written, listed_words, load_model
from ._summaries import listed, word_weights
from ._terminal import WRONG_INPUT, CallError, Terminal, harmless, plain_json, say

__all__ = ["lexicon_table", "print_translations", "words_asked", "write_lexicon"]

_HEADER = ("word", "translation", "trust", "documents", "together", "mutual", "others")


def words_asked(words: list[str] | None, file: Path | None) -> list[str]:
    """The words given as arguments, and those in a file without its blank lines."""
    if not words and file is None:
        raise CallError("translate needs a word; name some, or a file of words with --words.")
    asked = [*(words or []), *([] if file is None else listed_words(file))]
    if not asked:
        raise ValueError(f"{file} contains no word; write one per line.")
    return asked


def print_translations(found: Sequence[Translation], top: int, terminal: Terminal, *, says_target: bool) -> None:
    """Print the translations of known words, then one line for each unknown word, with exit status 1.

    `says_target` is for models of more than two languages.
    """
    known = [item for item in found if item.known]
    unknown = [item for item in found if not item.known]
    if terminal.as_json:
        terminal.json([_translation_dict(item) for item in found])
    else:
        for item in known:
            trust = "" if item.trust is None else f", trust {item.trust:.2f}"
            languages = f"{item.source} to {item.target}" if says_target else item.source
            about = f"{languages}, in {counted(item.documents, 'document')}{trust}"
            terminal.print(f"{item.word} ({about}): {listed(item.words[:top]) or 'nothing'}")
    for item in unknown:
        say(f"scca: {item.note}")
    if unknown:
        raise typer.Exit(WRONG_INPUT)


def _translation_dict(item: Translation) -> dict[str, Any]:
    if not item.known:
        return {"word": item.word, "known": False, "note": item.note}
    return {
        "word": item.word,
        "known": True,
        "from": item.source,
        "to": item.target,
        "documents": item.documents,
        "trust": item.trust,
        "words": word_weights(item.words),
    }


def write_lexicon(
    path: Path,
    output: Path,
    terminal: Terminal,
    *,
    source: str | None,
    target: str | None,
    least: int,
    trust: float,
    top: int,
) -> None:
    """Write the word list of a model file to a file or to standard output."""
    to_file = str(output) != "-"
    if to_file:
        check_written(output, path)
    model = load_model(path)
    with terminal.progress("linking words") as progress:
        pairs = lexicon(model, source=source, target=target, least=least, trust=trust, top=top, progress=progress)
    source, target = linked_languages(model, source, target)
    text = lexicon_table(pairs)
    if terminal.as_json:
        text = plain_json({"from": source, "to": target, "words": [_pair_dict(pair) for pair in pairs]})
    if not to_file:
        sys.stdout.write(text)
        return
    with atomic_write(output) as file:
        file.write(text.encode())
    trusted = sum(pair.trust >= 0.9 for pair in pairs)
    terminal.note(f"{counted(len(pairs), f'{source} word')}, {trusted} with a trust of 0.9 or more: {output}")


def lexicon_table(pairs: Sequence[WordPair]) -> str:
    """A word list as a tab-separated table; tabs within terms are escaped."""
    return "".join("\t".join(map(harmless, row)) + "\n" for row in (_HEADER, *map(_row, pairs)))


def _row(pair: WordPair) -> tuple[str, ...]:
    others = ", ".join(mate.name for mate in pair.mates[1:])
    mutual = "yes" if pair.mutual else "no"
    return pair.word, pair.mate, f"{pair.trust:.3f}", str(pair.documents), str(pair.together), mutual, others


def _pair_dict(pair: WordPair) -> dict[str, Any]:
    return {
        "word": pair.word,
        "translation": pair.mate,
        "trust": pair.trust,
        "documents": pair.documents,
        "translation_documents": pair.mate_documents,
        "together": pair.together,
        "mutual": pair.mutual,
        "words": word_weights(pair.mates),
    }
