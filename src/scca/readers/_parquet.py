"""Documents in string columns of a .parquet file."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from .._wording import spelled
from ._files import Allowance, PairError, bytes_allowed, check_regular, optional_module
from ._lines import LONGEST_DOCUMENT
from ._parquet_pages import page_sizes
from ._tables import choose_columns
from ._texts import Row, Source

__all__ = ["ParquetColumns"]

_ROWS_AT_A_TIME = 16  # few are decoded, since a long document that is stored once may be in every row
_ALWAYS_ALLOWED = 2**20  # bytes that a column of a row group may unpack to, whatever its size
# by default pyarrow reads a column of a whole row group, perhaps of the whole file, at once
_PIECEMEAL = {"buffer_size": 2**20, "pre_buffer": False}
_TEXT = ("string", "large_string", "string_view")


class ParquetColumns(Source):
    """String columns of a Parquet file, one for each view; a null is None."""

    path: Path  # a pipe cannot be read from its end

    def __init__(self, path: Path, columns: tuple[str, ...] | None):
        self.path = path
        with self._file() as file:
            schema = file.schema_arrow
            self.columns = choose_columns(path, schema.names, columns)
            for column in self.columns:
                kind = schema.field(column).type
                # a dictionary of strings is how pandas writes its categories
                if str(kind.value_type if str(kind).startswith("dictionary") else kind) not in _TEXT:
                    raise PairError(
                        f"Column {column!r} of {path} is of type {kind}, not string; convert it, or name "
                        f"{spelled(len(self.columns))} string columns."
                    )

    def place(self, view: int, position: int) -> str:
        return f"column {self.columns[view]!r} in row {position + 1} of {self.path}"

    def documents(self, view: int) -> Iterator[str | None]:
        return (row[0] for row in self._rows([self.columns[view]]))

    def rows(self) -> Iterator[Row]:
        return self._rows(list(self.columns))

    def _rows(self, columns: list[str]) -> Iterator[Row]:
        start = 0
        allowance = Allowance(self.path)
        with self._file() as file:
            self._check_sizes(file.metadata, columns)
            for batch in file.iter_batches(batch_size=_ROWS_AT_A_TIME, columns=columns):
                for row in zip(*(self._texts(batch, column, start) for column in columns), strict=True):
                    allowance.spend(sum(len(text) for text in row if text is not None), len(row))
                    yield row
                start += batch.num_rows

    def _check_sizes(self, metadata: Any, columns: list[str]) -> None:
        """Refuse columns that would fill the memory."""
        with open(self.path, "rb") as file:
            for group in map(metadata.row_group, range(metadata.num_row_groups)):
                for column in map(group.column, range(group.num_columns)):
                    if column.path_in_schema in columns:
                        self._check_size(file, column)

    def _check_size(self, file: BinaryIO, column: Any) -> None:
        """Refuse a column of a row group whose pages unpack to too many bytes."""
        try:
            size = sum(page_sizes(file, column))
        except (ValueError, OverflowError, OSError) as error:  # the last two for an impossible offset
            raise PairError(f"{self.path} cannot be read as Parquet ({error}); write or download it again.") from error
        # a false packed size would allow anything, but no column is larger than the file
        most = bytes_allowed(min(column.total_compressed_size, os.path.getsize(self.path)), _ALWAYS_ALLOWED)
        if size > most:
            raise PairError(
                f"Column {column.path_in_schema!r} of {self.path} unpacks to {size} bytes, where {most} are allowed "
                "for its packed size; write the file again without compression if all of it is needed."
            )

    def _texts(self, batch: Any, column: str, start: int) -> list[str | None]:
        values = batch.column(column)
        try:
            texts = values.to_pylist()
        except UnicodeDecodeError:
            row = next(row for row, value in enumerate(values, start + 1) if not _decodes(value))
            raise PairError(
                f"Column {column!r} in row {row} of {self.path} is not UTF-8; write the file again with valid strings."
            ) from None
        for row, text in enumerate(texts, start + 1):
            if text is not None and len(text) > LONGEST_DOCUMENT:
                raise PairError(
                    f"Column {column!r} in row {row} of {self.path} is longer than {LONGEST_DOCUMENT // 2**20} MiB; "
                    "split the document or leave it out."
                )
        return texts

    @contextmanager
    def _file(self) -> Iterator[Any]:
        pyarrow, parquet = optional_module("pyarrow", "parquet"), optional_module("pyarrow.parquet", "parquet")
        check_regular(self.path)
        try:
            with parquet.ParquetFile(self.path, **_PIECEMEAL) as file:
                yield file
        except (pyarrow.ArrowException, OSError) as error:
            reason = " ".join(str(error).split()).partition(". ")[0].rstrip(".")
            raise PairError(f"{self.path} cannot be read as Parquet ({reason}); write or download it again.") from error


def _decodes(value: Any) -> bool:
    try:
        value.as_py()
    except UnicodeDecodeError:
        return False
    return True
