"""Files that appear whole or not at all."""

import os
import stat

import pytest
from subprocesses import run_program

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
