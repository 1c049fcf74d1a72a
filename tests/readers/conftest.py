import gzip

import pytest


@pytest.fixture
def write(tmp_path):
    def write(name, content):
        path = tmp_path / name
        content = content.encode() if isinstance(content, str) else content
        path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
        return path

    return write


@pytest.fixture
def parquet(tmp_path):
    pyarrow, module = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")

    def parquet(columns, name="a.parquet", **options):
        path = tmp_path / name
        module.write_table(pyarrow.table(columns), path, **options)
        return path

    return parquet
