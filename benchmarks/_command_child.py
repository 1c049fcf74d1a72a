"""In a new process: a whole command, as from the shell; its peak memory is written to a file at the end.

Nothing else is imported before: imports are part of what a user waits for.
"""

import sys
from pathlib import Path

from ._resident import resident


def tf_idf(*paths: str) -> None:
    """What a user would run first on the same text."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    for path in paths:
        with open(path, encoding="utf-8") as lines:
            TfidfVectorizer().fit_transform(lines)


def main(out: str, *command: str) -> None:
    try:
        if command[0] == "tf-idf":
            tf_idf(*command[1:])
        else:
            from scca.cli import main as scca

            sys.argv = ["scca", *command]
            scca()
    finally:
        Path(out).write_text(str(resident("VmHWM")))


if __name__ == "__main__":
    main(*sys.argv[1:])
