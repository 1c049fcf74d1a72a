"""Commands on a real cluster: the same model as here, mates as Parquet files, and one line when something is wrong."""

from functools import partial

import numpy as np
import pytest
from commands import run

from scca import load
from scca.datasets import load_trilingual

pytest.importorskip("distributed")

from scca import distributed
from scca.distributed import local_cluster


@pytest.fixture(scope="module")
def address():
    with local_cluster(2) as client:
        yield client.scheduler.address


@pytest.fixture
def files(tmp_path):
    corpus = load_trilingual()
    for language in ("en", "fr"):
        (tmp_path / f"c.{language}").write_text("\n".join(getattr(corpus, language)[:120]) + "\n")
    return tmp_path / "c.en", tmp_path / "c.fr"


def fit(files, output, *options):
    return run("fit", *files, "-o", output, "--components", "3", "--quiet", *options, check=False)


def test_few_pairs_give_the_same_file_as_without_a_cluster(files, tmp_path, address):
    assert fit(files, tmp_path / "one.scca").returncode == 0
    found = fit(files, tmp_path / "two.scca", "--scheduler", address)
    assert (found.returncode, found.stderr) == (0, "")
    assert (tmp_path / "one.scca").read_bytes() == (tmp_path / "two.scca").read_bytes()
    assert not (tmp_path / "two.scca.partial").exists()


def test_mates_are_those_of_the_command_without_a_cluster(files, tmp_path, address):
    pq = pytest.importorskip("pyarrow.parquet")
    fit(files, tmp_path / "m.scca")
    asked = (
        "mates",
        tmp_path / "m.scca",
        "--queries",
        files[0],
        "--candidates",
        files[1],
        "--top",
        "4",
        "--from",
        "en",
    )
    found = run(*asked, "--scheduler", address, "-o", tmp_path / "mates", "--quiet", check=False)
    assert (found.returncode, found.stderr) == (0, "")
    table = pq.read_table(tmp_path / "mates").to_pandas()
    model = load(tmp_path / "m.scca")
    texts = [path.read_text().splitlines() for path in files]
    mates = model.mates(*texts, source="en", top=4)
    np.testing.assert_array_equal(table["candidate"].to_numpy().reshape(-1, 4), mates.indices)
    np.testing.assert_allclose(table["similarity"].to_numpy().reshape(-1, 4), mates.similarities, atol=1e-12)
    again = run(*asked, "--scheduler", address, "-o", tmp_path / "mates", check=False)
    assert again.returncode == 1
    assert "mates" in again.stderr
    assert again.stderr.count("\n") <= 2


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (["--scheduler", "tcp://127.0.0.1:9", "--paper"], "--scheduler is not for the paper's method"),
        (["--tls-ca", "ca.pem"], "--tls-ca, --tls-cert and --tls-key are for a cluster"),
        (["--scheduler", "tls://127.0.0.1:9", "--tls-ca", "ca.pem"], "needs --tls-ca, --tls-cert and --tls-key"),
    ],
)
def test_contradictory_options_are_wrong_calls(files, tmp_path, options, complaint):
    found = fit(files, tmp_path / "m.scca", *options)
    assert found.returncode == 2
    assert complaint in found.stderr
    assert found.stderr.count("\n") == 1


def test_a_scheduler_that_is_not_there_is_one_line(files, tmp_path, monkeypatch):
    monkeypatch.setattr(distributed, "connect", partial(distributed.connect, timeout=1))
    found = fit(files, tmp_path / "m.scca", "--scheduler", "tcp://127.0.0.1:9")
    assert found.returncode == 1
    assert found.stderr.startswith("scca: there is no scheduler at tcp://127.0.0.1:9")
    assert found.stderr.count("\n") == 1
    assert not (tmp_path / "m.scca").exists()


def test_mates_on_a_cluster_need_a_folder(files, tmp_path, address):
    fit(files, tmp_path / "m.scca")
    asked = ("mates", tmp_path / "m.scca", "--queries", files[0], "--candidates", files[1])
    for options in (["--scheduler", address], ["-o", tmp_path / "mates"]):
        found = run(*asked, *options, check=False)
        assert found.returncode == 2
        assert "give --scheduler and -o, or neither" in found.stderr
