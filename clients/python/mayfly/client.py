"""The door to a server."""

from __future__ import annotations

import base64
import os
from pathlib import Path
from typing import Any, BinaryIO, Iterable, Mapping, Optional, Sequence, Union
from uuid import uuid4

from .errors import Diagnostic, MayflyError
from .job import Job
from .programs import AnyPath, Part, Program
from .settings import find_settings
from .transport import Transport
from .views import JobView, NodeView, QuotaView, RoomView, ServerInfo, read_view

InputFiles = Union[Iterable[AnyPath], Mapping[str, Union[AnyPath, bytes]]]


class Client:
    """A server, as one token sees it. It holds no connection, and several threads may use it.

    url, token: default: MAYFLY_SERVER and MAYFLY_TOKEN, then the file of `mayfly login`. ca_file: certificates (PEM) to
    trust instead of the system's. fingerprint: the SHA-256 of the server's own certificate, in hexadecimal digits;
    then it needs no other. insecure: accept any certificate. timeout: seconds that the server may let one answer wait.
    patience: seconds to wait for a server that was there and is away, such as one that restarts.
    """

    def __init__(
        self,
        url: Optional[str] = None,
        token: Optional[str] = None,
        *,
        ca_file: Optional[AnyPath] = None,
        fingerprint: Optional[str] = None,
        insecure: Optional[bool] = None,
        timeout: float = 60.0,
        patience: float = 120.0,
    ) -> None:
        settings = find_settings(url, token, insecure)
        self.url = settings.origin
        self._transport = Transport(
            settings,
            timeout=timeout,
            patience=patience,
            ca_file=None if ca_file is None else os.fspath(ca_file),
            fingerprint=fingerprint,
        )

    def __repr__(self) -> str:
        return f"Client({self.url!r})"

    def info(self) -> ServerInfo:
        """The server's version, and how many slots its nodes offer. Needs no token."""
        return read_view(ServerInfo, self._transport.json("GET", "/api/info"))

    def nodes(self) -> list[NodeView]:
        """The volunteers."""
        return [read_view(NodeView, v) for v in _array(self._transport.json("GET", "/api/nodes"))]

    def rooms(self) -> list[RoomView]:
        """The rooms, newest first."""
        return [read_view(RoomView, v) for v in _array(self._transport.json("GET", "/api/rooms"))]

    def quota(self) -> QuotaView:
        """What the jobs of this token's owner use, and may use."""
        return read_view(QuotaView, self._transport.json("GET", "/api/quota"))

    def quotas(self) -> list[QuotaView]:
        """The same for every owner; the most slots in use first. Needs the owner's token."""
        return [read_view(QuotaView, v) for v in _array(self._transport.json("GET", "/api/quotas"))]

    def jobs(self, state: Optional[str] = None, limit: Optional[int] = None) -> list[JobView]:
        """Jobs, newest first, without their ranks, faults and files: in one state, and at most `limit`."""
        views = [read_view(JobView, v) for v in _array(self._transport.json("GET", "/api/jobs"))]
        views.sort(key=lambda v: v.submitted_at, reverse=True)
        return [v for v in views if state is None or v.state == state][:limit]

    def job(self, id: str) -> Job:
        """The job with this id. It asks the server nothing yet."""
        return Job(self._transport, id)

    def submit(
        self,
        program: Union[Program, AnyPath, Sequence[AnyPath]],
        ranks: int,
        *,
        args: Sequence[object] = (),
        files: InputFiles = (),
        stdin: Union[None, str, bytes, BinaryIO] = None,
        name: Optional[str] = None,
        about: Optional[str] = None,
        room: Optional[str] = None,
        rooms: Optional[Sequence[Optional[str]]] = None,
        env: Optional[Mapping[str, str]] = None,
        flags: Sequence[str] = (),
        protocol: Optional[str] = None,
        clusters: Union[None, int, Sequence[Sequence[int]]] = None,
        team: Optional[int] = None,
        map_by: Optional[str] = None,
        durability: Optional[str] = None,
        checkpoint: Optional[float] = None,
        grace: Optional[float] = None,
        time_limit: Optional[float] = None,
        memory: Optional[int] = None,
        seed: Optional[int] = None,
        notify: Optional[str] = None,
        further: Sequence[Part] = (),
    ) -> Job:
        """Submits a program and returns at once, when the server has compiled and stored it.

        program: a TypeScript file, a module that `mayfly mpicc` built, one or several files of C or C++ (the server
        compiles them with `flags`), a folder or an archive with mayfly.json, or a Program. files: input files, as
        paths, or as name → path or bytes. stdin: standard input of rank 0. protocol: pessimistic, none, app, or vcl,
        pcl, hc3i (not for TypeScript). clusters: of hc3i, as a number or as lists of ranks; rooms: one for each of
        them, None for volunteers without a room. team: at most so many ranks of a node share memory; map_by: slot or
        node. durability: behind or strict. checkpoint, grace, time_limit: seconds. memory: bytes that one rank may
        use. notify: URL to which the server posts the end of the job (docs/server.md, Webhooks). further: programs that
        share MPI_COMM_WORLD with this one (MPMD).

        Raises MayflyError: COMPILE_FAILED with diagnostics, BAD_PROGRAM, BAD_FILE, …; Unreachable. When the
        connection breaks before the answer, it is sent again with the same Idempotency-Key, and is one job all the
        same.
        """
        own, first = Part(program, ranks, args, flags=flags).submission()
        rest = [p.submission() for p in further]
        options: dict[str, Any] = {
            "protocol": protocol,
            "clusters": clusters,
            "team": team,
            "mapBy": map_by,
            "durability": durability,
            "checkpointMs": _ms(checkpoint),
            "graceMs": _ms(grace),
            "timeLimitMs": _ms(time_limit),
            "memoryBytes": memory,
            "seed": seed,
            "env": None if env is None else dict(env),
        }
        body: dict[str, Any] = {
            "name": (name or " : ".join([own, *(n for n, _ in rest)]))[:80],
            "about": about,
            "room": room,
            "rooms": None if rooms is None else list(rooms),
            "notify": notify,
            **first,
            "further": [part for _, part in rest] or None,
            "files": _encoded(files) or None,
            "stdin": None if stdin is None else _base64(_bytes(stdin)),
            "options": {k: v for k, v in options.items() if v is not None},
        }
        sent = {k: v for k, v in body.items() if v is not None}
        created = self._transport.json("POST", "/api/jobs", sent, key=uuid4().hex)
        try:
            warnings = [
                Diagnostic(str(w["file"]), int(w["line"]), int(w["column"]), str(w["code"]), str(w["message"]))
                for w in created["warnings"]
            ]
            return Job(self._transport, created["id"], warnings)
        except (KeyError, TypeError, ValueError):
            raise MayflyError("BAD_ANSWER", f"{self.url} did not answer the submission with an id") from None


def _array(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise MayflyError("BAD_ANSWER", "the server did not answer with a list")
    return value


def _ms(seconds: Optional[float]) -> Optional[int]:
    return None if seconds is None else round(seconds * 1000)


def _base64(data: Union[bytes, bytearray]) -> str:
    return base64.b64encode(data).decode()


def _bytes(stdin: Union[str, bytes, BinaryIO]) -> bytes:
    data = stdin if isinstance(stdin, (str, bytes)) else stdin.read()
    return data.encode() if isinstance(data, str) else bytes(data)


def _encoded(files: InputFiles) -> dict[str, str]:
    """A path below the working folder keeps its name; of another one the program sees the last part."""
    named: Iterable[tuple[str, Union[AnyPath, bytes]]]
    if isinstance(files, Mapping):
        named = files.items()
    elif isinstance(files, (str, os.PathLike)):
        raise MayflyError("BAD_FILE", "files is a list of paths, or name → path or bytes")
    else:
        named = [(_name(p), p) for p in files]
    found: dict[str, str] = {}
    for name, content in named:
        if name in found:
            raise MayflyError("BAD_FILE", f"two input files are called {name!r}")
        try:
            data = content if isinstance(content, (bytes, bytearray)) else Path(content).read_bytes()
        except OSError as error:
            raise MayflyError("BAD_FILE", f"cannot read the input file {content!s}: {error.strerror}") from None
        found[name] = _base64(data)
    return found


def _name(path: AnyPath) -> str:
    near = os.path.relpath(path)
    elsewhere = os.path.isabs(path) or near.startswith("..")
    return os.path.basename(near) if elsewhere else near.replace(os.sep, "/")
