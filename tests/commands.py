"""The `scca` command as a process of its own."""

import os
import subprocess
import sys

COMMAND = [sys.executable, "-c", "from scca.cli import main; main()"]


def run(*arguments, cwd=None, check=True, env=None):
    """Run `scca` and return the finished process."""
    done = subprocess.run(
        [*COMMAND, *map(str, arguments)],
        cwd=cwd,
        capture_output=True,
        text=True,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1", "COLUMNS": "200", **(env or {})},
        timeout=300,
    )
    if check:
        assert done.returncode == 0, done.stderr
    return done


def refused(*arguments, cwd=None):
    """The one line on standard error of a command that must fail."""
    done = run(*arguments, cwd=cwd, check=False)
    assert done.returncode != 0
    assert done.stdout == ""
    lines = done.stderr.strip().splitlines()
    assert len(lines) == 1, done.stderr
    assert "Traceback" not in done.stderr
    return lines[0]


def write_lines(path, texts):
    path.write_text("\n".join(texts) + "\n", encoding="utf-8", newline="\n")
    return path
