"""Folders of Parquet files, each written by a worker; a folder appears complete or not at all."""

import os
import secrets
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np

from .._files import atomic_write, check_folder
from ..readers import optional_module

__all__ = ["new_folder", "part_name", "write_part"]


@contextmanager
def new_folder(folder: str | os.PathLike[str]) -> Iterator[Path]:
    """A context with a folder FOLDER.partial to write to; at the end it becomes `folder`, on an error it is removed."""
    folder = Path(os.path.realpath(folder))
    check_folder(folder)
    if folder.exists() and any(folder.iterdir()):
        raise FileExistsError(f"{folder} is not empty; empty it, or name another folder.")
    partial = folder.with_name(f"{folder.name}.partial")
    partial.parent.mkdir(parents=True, exist_ok=True)
    try:
        partial.mkdir()
    except FileExistsError as error:
        raise FileExistsError(
            f"{partial} is being written to, or left from a run that did not end; remove it, or name another folder."
        ) from error
    try:
        yield partial
        if folder.exists():
            folder.rmdir()
        os.rename(partial, folder)
    except BaseException:
        _remove(partial)
        raise


def _remove(folder: Path) -> None:
    """Rename the folder first, so that workers that are still writing cannot add to it, and remove it."""
    removed = folder.with_name(f".{folder.name}.{secrets.token_hex(4)}")
    with suppress(OSError):
        os.rename(folder, removed)
        shutil.rmtree(removed, ignore_errors=True)


def part_name(number: int, total: int) -> str:
    """The name of a part; the alphabetical order of names is that of the numbers."""
    return f"part-{number:0{max(5, len(str(total - 1)))}d}.parquet"


def write_part(path: Path, pieces: Iterable[Mapping[str, np.ndarray]]) -> int:
    """Write the columns of all pieces to a file, and return the number of rows; runs on a worker."""
    arrow, parquet = (
        optional_module(name, "parquet", "Writing Parquet files on a worker") for name in ("pyarrow", "pyarrow.parquet")
    )
    if not path.parent.is_dir():
        raise FileNotFoundError(
            f"a worker does not see the folder {path.parent}; name one that this machine and all workers share."
        )
    n_rows, writer = 0, None
    with atomic_write(path) as file:
        try:
            for columns in pieces:
                table = arrow.table(dict(columns))
                if writer is None:
                    writer = parquet.ParquetWriter(file, table.schema)
                writer.write_table(table)
                n_rows += table.num_rows
        finally:
            if writer is not None:
                writer.close()
    return n_rows
