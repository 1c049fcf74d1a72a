"""What the commands about single words print: translations, and word lists."""

import json
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import typer

from .._files import atomic_write, check_output
from .._validation import DataWarning
from ..text import Translation, WordPair, read_documents
from ._shared import listed, load_bilingual
from ._terminal import Terminal

__all__ = ["lexicon_table", "print_translations", "words_asked", "write_lexicon"]

_HEADER = ("word", "translation", "trust", "documents", "together", "mutual", "others")


def words_asked(words: list[str] | None, file: Path | None) -> list[str]:
    """The words that were named and those in a file, blank lines left out."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)  # of blank lines
        asked = [*(words or []), *([] if file is None else read_documents(file))]
    asked = [stripped for word in asked if (stripped := word.strip())]
    if not asked:
        raise ValueError("translate needs a word; name some, or a file of words with --words.")
    return asked


def print_translations(found: Sequence[Translation], top: int, terminal: Terminal) -> None:
    """The known words, then what is wrong with the others: one line each, and exit status 1."""
    if terminal.as_json:
        terminal.json([_translation_dict(item) for item in found])
    else:
        for item in found:
            if item.known:
                _print_translation(item, top, terminal)
    unknown = [item for item in found if not item.known]
    for item in unknown:
        print(f"scca: {item.note.replace('; name its language.', '; name its language with --from.')}", file=sys.stderr)
    if unknown:
        raise typer.Exit(1)


def _print_translation(item: Translation, top: int, terminal: Terminal) -> None:
    in_documents = f"{item.documents} document{'s' * (item.documents != 1)}"
    trusted = "" if item.trust is None else f", trust {item.trust:.2f}"
    joined = [word for word in item.words if word.weight > 0]
    terminal.print(f"{item.word} ({item.source}, in {in_documents}{trusted}): {listed(joined[:top]) or 'nothing'}")
    if item.joined_by:
        terminal.print(f"  together with {listed(item.joined_by[:top])}")


def _translation_dict(item: Translation) -> dict[str, Any]:
    if not item.known:
        return {"word": item.word, "known": False, "note": item.note}
    answer = {
        "word": item.word,
        "known": True,
        "from": item.source,
        "to": item.target,
        "documents": item.documents,
        "trust": item.trust,
        "words": _weighted(item.words),
    }
    if item.mu is None:
        return answer
    anchored = {"mu": item.mu, "gamma": item.gamma, "dual_gap": item.dual_gap, "joined_by": _weighted(item.joined_by)}
    return answer | anchored


def write_lexicon(
    model: Path, output: Path, terminal: Terminal, *, source: str | None, least: int, trust: float, top: int
) -> None:
    """The word list of a model file, to a file or to standard output."""
    to_file = str(output) != "-"
    if to_file and check_output(output) == model.resolve():
        raise ValueError(f"{output} is the model; name another file with -o.")
    bilingual = load_bilingual(model)
    with terminal.progress("linking words") as progress:
        pairs = bilingual.lexicon(source=source, least=least, trust=trust, top=top, progress=progress)
    source = source or bilingual.languages_[0]
    if terminal.as_json:
        listing = {"from": source, "to": bilingual.other(source), "words": [_pair_dict(pair) for pair in pairs]}
        text = json.dumps(listing, ensure_ascii=False, indent=2) + "\n"
    else:
        text = lexicon_table(pairs)
    if not to_file:
        sys.stdout.write(text)
        return
    with atomic_write(output) as file:
        file.write(text.encode())
    trusted = sum(pair.trust >= 0.9 for pair in pairs)
    terminal.note(f"{len(pairs)} {source} words, {trusted} with a trust of 0.9 or more: {output}")


def lexicon_table(pairs: Sequence[WordPair]) -> str:
    """A word list as a table separated by tabs."""
    return "".join("\t".join(row) + "\n" for row in (_HEADER, *map(_row, pairs)))


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
        "words": _weighted(pair.mates),
    }


def _weighted(items: Any) -> list[dict[str, Any]]:
    return [{"word": item.name, "weight": item.weight} for item in items]
