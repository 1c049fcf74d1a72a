"""The `scca` command: in this process, where most of it can be seen, or as a process of its own."""

import io
import os
import subprocess
import sys
import traceback
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path
from unittest.mock import patch

COMMAND = [sys.executable, "-c", "from scca.cli import main; main()"]


def run(*arguments, cwd=None, check=True, stdin=b""):
    """Run `scca` in this process; returns what a finished process would say of it."""
    out, err = _stream(), _stream()
    with (
        chdir(cwd or Path.cwd()),
        patch.object(sys, "argv", ["scca", *map(str, arguments)]),
        patch.object(sys, "stdin", _stream(stdin)),
        patch.dict(os.environ, {"COLUMNS": "200"}),
        redirect_stdout(out),
        redirect_stderr(err),
    ):
        status = _exit_status()
    return _checked(subprocess.CompletedProcess(arguments, status, _written(out), _written(err)), check)


def _checked(done, must_succeed):
    if must_succeed:
        assert done.returncode == 0, done.stderr
    return done


def _exit_status():
    """Of the command in `sys.argv`, whose mistakes are shown as Python shows them."""
    from scca import cli

    try:
        with patch.object(cli, "handle_signals"):  # signals are for the process that runs the tests
            cli.main()
    except SystemExit as exit:
        return exit.code or 0
    except Exception:
        traceback.print_exc()
        return 1
    return 0


def _stream(content=b""):
    """As a pipe: bytes below, UTF-8 above."""
    return io.TextIOWrapper(io.BytesIO(content), encoding="utf-8", newline="\n", write_through=True)


def _written(stream):
    return stream.buffer.getvalue().decode()


def run_process(*arguments, cwd=None, check=True, **environment):
    """Run `scca` as a process of its own, with these environment variables."""
    done = subprocess.run(
        [*COMMAND, *map(str, arguments)],
        cwd=cwd,
        capture_output=True,
        text=True,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1", "COLUMNS": "200", **environment},
        timeout=300,
    )
    return _checked(done, check)


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
