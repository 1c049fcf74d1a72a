"""Programs of their own: for what a test could only see from outside, or would leave changed for the others."""

import os
import signal
import subprocess
import sys


def run_program(program: str, *arguments, **environment) -> subprocess.CompletedProcess:
    """Run Python code with these environment variables; it must not fail."""
    done = subprocess.run(
        [sys.executable, "-c", program, *map(str, arguments)],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
    )
    assert done.returncode == 0, done.stderr
    return done


def start_program(program: str, *arguments, **environment) -> subprocess.Popen:
    """Start Python code as the leader of a group of processes, as a terminal does, with these environment variables."""
    return subprocess.Popen(
        [sys.executable, "-c", program, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **environment},
        start_new_session=True,
        # a shell that runs the tests in the background lets its children ignore Ctrl-C
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )


def is_alive(pid: int) -> bool:
    """Whether a process runs; one that ended and waits to be noticed does not."""
    done = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True)
    return done.stdout.strip() != "" and not done.stdout.startswith("Z")
