"""The cluster that a command works on: its options, and the connection to it."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .._files import check_folder
from ._inputs import view_of
from ._terminal import CallError, Terminal

if TYPE_CHECKING:
    from ..model import Model
    from ..readers import Piped, RemoteTexts, TextViews

__all__ = ["Cluster", "Scheduler", "TlsCa", "TlsCert", "TlsKey", "texts_for", "write_mates_to"]

Scheduler = Annotated[
    str | None,
    typer.Option(metavar="ADDRESS", help="Work on the Dask cluster of this scheduler.", show_default=False),
]
TlsCa = Annotated[
    Path | None, typer.Option("--tls-ca", help="With --scheduler: certificate of the authority.", show_default=False)
]
TlsCert = Annotated[
    Path | None, typer.Option("--tls-cert", help="With --scheduler: certificate of this client.", show_default=False)
]
TlsKey = Annotated[Path | None, typer.Option("--tls-key", help="With --scheduler: its key.", show_default=False)]


@dataclass(frozen=True)
class Cluster:
    """Where a command works: on this machine, or on the cluster of a scheduler."""

    scheduler: str | None
    tls_ca: Path | None
    tls_cert: Path | None
    tls_key: Path | None

    def __post_init__(self) -> None:
        given = [path for path in (self.tls_ca, self.tls_cert, self.tls_key) if path is not None]
        if given and self.scheduler is None:
            raise CallError("--tls-ca, --tls-cert and --tls-key are for a cluster; add --scheduler or leave them out.")
        if given and len(given) < 3:
            raise CallError("a cluster with TLS needs --tls-ca, --tls-cert and --tls-key; give all three.")

    @contextmanager
    def client(self, terminal: Terminal) -> Iterator[Any]:
        """A context with a client of the scheduler, or with None if the command works on this machine."""
        if self.scheduler is None:
            yield None
            return
        from ..distributed import connect

        with connect(self.scheduler, security=self._security()) as client:
            terminal.note(f"scca: {len(client.scheduler_info(n_workers=-1)['workers'])} workers at {self.scheduler}")
            yield client

    def _security(self) -> Any:
        if self.tls_ca is None:
            return None
        import distributed

        security: Any = distributed.Security
        return security(
            tls_ca_file=str(self.tls_ca),
            tls_client_cert=str(self.tls_cert),
            tls_client_key=str(self.tls_key),
            require_encryption=True,
        )


def texts_for(client: Any, files: "list[Path | Piped]", **settings: Any) -> "TextViews | RemoteTexts":
    """The texts of a command: read by this process, or by the workers of a cluster; texts of a pipe are sent there."""
    from ..readers import Piped, read_texts

    if client is None:
        return read_texts(*files, **settings)
    from .. import distributed

    if any(isinstance(file, Piped) for file in files):
        return distributed.scatter_texts(client, read_texts(*files, **settings))
    return distributed.read_texts(client, *(Path(str(file)) for file in files), **settings)


def write_mates_to(
    output: Path,
    cluster: Cluster,
    model: "Model",
    queries: Path,
    candidates: Path,
    views: tuple[str | None, str | None],
    top: int,
    terminal: Terminal,
) -> None:
    """Let the workers of a cluster write the mates of all queries to a folder."""
    from ..distributed import read_documents, write_mates
    from ..progress import long_work
    from ..readers import stream_documents

    check_folder(output)
    source = view_of(model, next(stream_documents(queries)), views[0], terminal)
    target = model.target_of(source, views[1])
    with cluster.client(terminal) as client, terminal.stages() as progress, long_work(progress):
        asked, offered = read_documents(client, queries), read_documents(client, candidates)
        write_mates(client, model, asked, offered, output, source=source, target=target, top=top)
    terminal.print(f"mates of the documents of {queries.name}: {output}")
