"""Files that appear whole or not at all."""

import errno
import os
import signal
import stat

import pytest
from subprocesses import run_program, start_program

from scca._files import atomic_write


def write(path, content=b"new"):
    with atomic_write(path) as file:
        file.write(content)


@pytest.mark.parametrize(("umask", "mode"), [("027", "640"), ("022", "644"), ("077", "600"), ("002", "664")])
def test_mode_follows_the_umask_which_is_never_set(tmp_path, umask, mode):
    """Set for a moment, it would be set for files that other threads make at that moment, too."""
    program = f"""
import os, sys
from scca._files import atomic_write
os.umask(0o{umask})
def refuse(mask):
    raise AssertionError("umask is the process's, not ours")
os.umask = refuse
with atomic_write(sys.argv[1]) as file:
    file.write(b"new")
"""
    run_program(program, tmp_path / "file")
    assert (tmp_path / "file").read_bytes() == b"new"
    assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == int(mode, 8)


def test_nothing_is_there_until_all_is_and_nothing_else_afterwards(tmp_path):
    path = tmp_path / "file"
    with atomic_write(path) as file:
        file.write(b"new")
        assert not path.exists()
    assert os.listdir(tmp_path) == ["file"]
    write(path, b"newer")
    assert path.read_bytes() == b"newer"
    assert os.listdir(tmp_path) == ["file"]


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
def test_what_fails_leaves_the_old_file_and_no_draft(tmp_path, error):
    path = tmp_path / "file"
    path.write_bytes(b"old")
    with pytest.raises(error), atomic_write(path) as file:
        file.write(b"ne")
        raise error
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["file"]


def test_two_at_once_do_not_meet(tmp_path):
    path = tmp_path / "file"
    with atomic_write(path) as first, atomic_write(path) as second:
        first.write(b"first")
        second.write(b"second")
    assert path.read_bytes() == b"first"  # which ended last
    assert os.listdir(tmp_path) == ["file"]


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_without_write_access_is_named(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(PermissionError, match="cannot be written to; choose another"):
        write(tmp_path / "file")


def test_a_file_that_does_not_fit_is_named(tmp_path):
    """The limit on the size of files is a full disk that needs no disk of its own."""
    program = """
import errno, resource, sys
from scca._files import atomic_write
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, resource.RLIM_INFINITY))
try:
    with atomic_write(sys.argv[1]) as file:
        file.write(bytes(10**6))
except OSError as error:
    assert error.errno == errno.EFBIG
    print(error)
"""
    told = run_program(program, tmp_path / "file").stdout.strip()
    assert (
        told
        == f"{tmp_path / 'file'} cannot be written (File too large); make room, raise the limit or name another disk."
    )
    assert os.listdir(tmp_path) == []


def test_a_full_disk_names_the_file(tmp_path):
    with (
        pytest.raises(
            OSError, match=rf"^{tmp_path}/file cannot be written \(No space left on device\); make room"
        ) as caught,
        atomic_write(tmp_path / "file") as file,
        open("/dev/full", "wb") as full,
    ):
        os.dup2(full.fileno(), file.fileno())
        file.write(b"new")
    assert caught.value.errno == errno.ENOSPC
    assert os.listdir(tmp_path) == []


WRITING = """
import sys, time
from scca._files import atomic_write
with atomic_write(sys.argv[1]) as file:
    print("writing", flush=True)
    time.sleep(60)
"""


def test_what_a_killed_process_left_is_removed_by_the_next(tmp_path):
    path = tmp_path / "file"
    process = start_program(WRITING, path)
    assert process.stdout.readline() == "writing\n"
    live = os.listdir(tmp_path)
    assert len(live) == 1
    write(path)
    assert sorted(os.listdir(tmp_path)) == sorted([*live, "file"])  # it is still being written
    for number in (signal.SIGTERM, signal.SIGKILL):
        process.send_signal(number)
        process.wait()
        process.stdout.close()
        process.stderr.close()
        assert len(os.listdir(tmp_path)) == 2
        (tmp_path / ".file.part").write_bytes(b"not ours")
        write(path, b"newer")
        assert sorted(os.listdir(tmp_path)) == [".file.part", "file"]
        (tmp_path / ".file.part").unlink()
        process = start_program(WRITING, path)
        assert process.stdout.readline() == "writing\n"
    process.kill()
    process.communicate()


def test_the_command_line_leaves_nothing_when_it_is_ended(tmp_path):
    program = f"""
import sys, typer
import scca.cli._app as cli
def run():
    exec({WRITING!r})
cli.run = run
scca.cli.main()
"""
    process = start_program("import scca.cli\n" + program, tmp_path / "file")
    assert process.stdout.readline() == "writing\n"
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=30)
    assert process.returncode == 128 + signal.SIGTERM
    assert os.listdir(tmp_path) == []
