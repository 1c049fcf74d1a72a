"""Nothing listens beyond the loopback address unless told, and Dask's security settings pass through."""

import subprocess

import numpy as np
import pytest
from clusters import LOOPBACK, column_sums, machines, model, planted_pair

import scca
from scca.distributed import ClusterError, connect, local_cluster, scatter
from scca.samples import summed

psutil = pytest.importorskip("psutil")


def listening(process):
    """The addresses on which a process accepts connections."""
    connections = getattr(process, "net_connections", None) or process.connections  # its name before psutil 6
    return {found.laddr for found in connections(kind="inet") if found.status == psutil.CONN_LISTEN}


def test_a_local_cluster_listens_on_the_loopback_address_alone():
    me = psutil.Process()
    before = listening(me)
    with local_cluster(2, memory_limit=0):
        own = listening(me) - before  # of the scheduler and of those who watch the workers
        of_workers = [listening(child) for child in me.children(recursive=True)]
        assert own
        assert sum(map(bool, of_workers)) >= 2
        assert {address.ip for address in own.union(*of_workers)} == {LOOPBACK}


def test_two_local_clusters_side_by_side_warn_of_nothing(cluster, recwarn):
    with local_cluster(1, memory_limit=0):
        assert not [str(warning.message) for warning in recwarn if "Port" in str(warning.message)]


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    """A certificate of our own for this machine, with its key."""
    folder = tmp_path_factory.mktemp("tls")
    files = {"key": folder / "key.pem", "cert": folder / "cert.pem"}
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=scca"]
    try:
        subprocess.run(
            [*command, "-keyout", files["key"], "-out", files["cert"]], check=True, capture_output=True, timeout=60
        )
    except (OSError, subprocess.SubprocessError):
        pytest.skip("there is no openssl to make a certificate")
    return {name: str(file) for name, file in files.items()}


def security_of(certificate):
    from distributed.security import Security

    settings = {
        f"tls_{role}_{name}": certificate[name] for role in ("client", "scheduler", "worker") for name in certificate
    }
    return Security(require_encryption=True, tls_ca_file=certificate["cert"], **settings)


@pytest.fixture(scope="module")
def encrypted(tmp_path_factory, certificate):
    options = [
        f"--tls-{name}={certificate[part]}" for name, part in (("ca-file", "cert"), ("cert", "cert"), ("key", "key"))
    ]
    with machines(tmp_path_factory.mktemp("encrypted") / "tls", 1, *options) as started:
        yield started


class TestEncryption:
    def test_passes_through(self, encrypted, certificate):
        assert encrypted.address.startswith("tls://")
        X, Y = planted_pair()
        with connect(encrypted.address, security=security_of(certificate), timeout=120) as client:
            rows, _ = scatter(client, X, Y)
            np.testing.assert_allclose(summed(column_sums, [rows]), X.sum(axis=0), atol=1e-9)

    def test_is_asked_for_in_one_sentence(self, encrypted):
        with pytest.raises(
            ClusterError, match=r"^the scheduler at tls://.* is encrypted, and there are no certificates; pass [^\n]*$"
        ):
            connect(encrypted.address, timeout=3)

    def test_of_a_local_cluster(self, certificate):
        X, Y = planted_pair(n=80, p=20, q=18)
        with local_cluster(1, memory_limit=0, security=security_of(certificate)) as client:
            assert client.scheduler.address.startswith(f"tls://{LOOPBACK}:")
            assert model().fit(*scatter(client, X, Y)).n_components_ == 3


def test_a_scheduler_file_is_an_address(tmp_path):
    with machines(tmp_path / "machines", 0) as started:
        file = tmp_path / "scheduler.json"
        file.write_text(f'{{"address": "{started.address}", "workers": {{}}}}')
        started.add_worker()
        with connect(str(file), timeout=120) as client:
            assert client.scheduler.address == started.address


@pytest.mark.parametrize(("text", "has"), [("__version__ = '0.0.1'", "scca 0.0.1"), ("raise ImportError", "no scca")])
def test_workers_with_another_version_are_refused(tmp_path, text, has):
    package = tmp_path / "other" / "scca"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(text)
    with machines(tmp_path / "machines", 0) as started:
        started.add_worker(path=tmp_path / "other")
        with pytest.raises(ClusterError, match=f"has {has}, and this is scca {scca.__version__}; install the same"):
            connect(started.address, timeout=120)
