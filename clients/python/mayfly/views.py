"""What the server says of jobs, nodes and rooms, as frozen dataclasses.

Each field names the property of the server's answer that it comes from; apps/cli/test/python-client.test.ts compares
them with /openapi.json. Times are aware datetimes of UTC. What is not here is in `raw`, as the server sent it.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any, Callable, Optional, TypeVar

from .errors import MayflyError, plain

V = TypeVar("V")
Reader = Callable[[Any], Any]


def _exactly(kind: type) -> Reader:
    def read(value: Any) -> Any:
        # A bool is an int to Python, and no count.
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            raise TypeError
        return value

    return read


_text = _exactly(str)
_whole = _exactly(int)
_truth = _exactly(bool)


def _number(value: Any) -> float:
    return float(value if type(value) is int else _exactly(float)(value))


def _time(value: Any) -> datetime:
    return datetime.fromtimestamp(_whole(value) / 1000, timezone.utc)


def _of(read: Reader) -> Reader:
    return lambda value: [read(v) for v in _exactly(list)(value)]


def _from(name: str, read: Reader) -> Any:
    return dataclasses.field(metadata={"json": name, "read": read})


def _maybe(name: str, read: Reader) -> Any:
    return dataclasses.field(default=None, metadata={"json": name, "read": read})


def read_view(kind: type[V], value: Any) -> V:
    """Raises MayflyError BAD_ANSWER for what does not have the right type."""
    found: dict[str, Any] = {}
    for f in dataclasses.fields(kind):  # type: ignore[arg-type]
        if "json" not in f.metadata:
            continue
        try:
            at = value
            for step in f.metadata["json"].split("."):
                at = at[step]
        except (KeyError, TypeError):
            if f.default is None:
                continue
            raise MayflyError("BAD_ANSWER", f"the server's {kind.__name__} lacks {f.metadata['json']}") from None
        try:
            found[f.name] = f.metadata["read"](at)
        except (TypeError, ValueError, OverflowError):
            raise MayflyError(
                "BAD_ANSWER", f"{f.metadata['json']} of the server's {kind.__name__} has another type"
            ) from None
    if any(f.name == "raw" for f in dataclasses.fields(kind)):  # type: ignore[arg-type]
        found["raw"] = value
    return kind(**found)


@dataclass(frozen=True)
class ErrorView:
    """Why a job failed: a stable code (docs/errors.md) and a sentence."""

    code: str = _from("code", _text)
    message: str = _from("message", _text)


@dataclass(frozen=True)
class TaskView:
    """One rank. Counters count from the start of the job, over all its incarnations."""

    rank: int = _from("task", _whole)
    state: str = _from("state", _text)
    incarnation: int = _from("incarnation", _whole)
    messages_in: int = _from("messagesIn", _whole)
    messages_out: int = _from("messagesOut", _whole)
    images: int = _from("images", _whole)
    node_name: Optional[str] = _maybe("nodeName", _text)
    exit_code: Optional[int] = _maybe("exitCode", _whole)


@dataclass(frozen=True)
class FaultView:
    """A rank that was lost. recovered_after_ms: milliseconds from detection to its next new step; None: not yet.

    error: what its node reported, or how the server noticed the loss; None: the cause says all.
    """

    at: datetime = _from("at", _time)
    rank: int = _from("task", _whole)
    incarnation: int = _from("incarnation", _whole)
    cause: str = _from("cause", _text)
    recovered_after_ms: Optional[int] = _maybe("recoveredAfterMs", _whole)
    error: Optional[str] = _maybe("error", _text)


@dataclass(frozen=True)
class FileView:
    """A result file: path with slashes, size in bytes, the rank that wrote it."""

    path: str = _from("path", _text)
    size: int = _from("bytes", _whole)
    rank: int = _from("task", _whole)


@dataclass(frozen=True)
class PartView:
    """One of several programs of a job: `ranks` ranks from rank `first` on run it."""

    first: int = _from("first", _whole)
    ranks: int = _from("size", _whole)
    language: str = _from("program.language", _text)
    entry: str = _from("program.entry", _text)
    args: list[str] = _from("args", _of(_text))


@dataclass(frozen=True)
class WaveView:
    """A checkpoint that all ranks took together. state: underWay, committed or abandoned (then with a reason).

    ms: how long it took; None: it is under way. recorded: messages that were under way between the images. held: the
    most messages held back at one time. `raw` has the bytes of each.
    """

    wave: int = _from("wave", _whole)
    at: datetime = _from("at", _time)
    state: str = _from("state", _text)
    images: int = _from("images", _whole)
    image_bytes: int = _from("imageBytes", _whole)
    recorded: int = _from("recorded", _whole)
    held: int = _from("held", _whole)
    ms: Optional[int] = _maybe("ms", _whole)
    reason: Optional[str] = _maybe("reason", _text)
    raw: dict[str, Any] = dataclasses.field(default_factory=dict, repr=False)


@dataclass(frozen=True)
class RollbackView:
    """All ranks went back to a wave (0: the start). lost_ms: the work that this undid, as time of all ranks."""

    at: datetime = _from("at", _time)
    epoch: int = _from("epoch", _whole)
    wave: int = _from("wave", _whole)
    cause: str = _from("cause", _text)
    ranks: list[int] = _from("ranks", _of(_whole))
    lost_ms: int = _from("lostMs", _whole)


@dataclass(frozen=True)
class WavesView:
    """The waves of a job under coordinated checkpointing: sums of all; `recent` and `rolled_back` have the newest.

    chosen: the owner has chosen the period. next_at: when the next wave is due, if that is known.
    """

    chosen: bool = _from("chosen", _truth)
    committed: int = _from("committed", _whole)
    abandoned: int = _from("abandoned", _whole)
    rollbacks: int = _from("rollbacks", _whole)
    lost_ms: int = _from("lostMs", _whole)
    recent: list[WaveView] = _from("recent", _of(lambda v: read_view(WaveView, v)))
    rolled_back: list[RollbackView] = _from("rolledBack", _of(lambda v: read_view(RollbackView, v)))
    period_ms: Optional[int] = _maybe("periodMs", _whole)
    next_at: Optional[datetime] = _maybe("nextAt", _time)


@dataclass(frozen=True)
class ClusterRoomView:
    """Where a cluster of the protocol hc3i runs. code: of its room; None: on volunteers without a room."""

    ranks: list[int] = _from("ranks", _of(_whole))
    code: Optional[str] = _maybe("code", _text)


@dataclass(frozen=True)
class JobView:
    """A job at one moment.

    state: waiting, running, stalled, pausing, paused, done, failed or cancelled. reason: why it waits, in words.
    progress: what its program states, 0 to 1, and an estimate of the seconds left; None: not known, or ended.
    parts: all programs of a job that has several (MPMD), or None. waves: None without coordinated checkpointing.
    rooms: of each cluster, where the job named rooms for its clusters, or None.
    `str(view)` is a line for people.
    """

    id: str = _from("id", _text)
    name: str = _from("name", _text)
    state: str = _from("state", _text)
    ranks: int = _from("size", _whole)
    protocol: str = _from("protocol", _text)
    language: str = _from("program.language", _text)
    args: list[str] = _from("args", _of(_text))
    submitted_at: datetime = _from("submittedAt", _time)
    tasks: list[TaskView] = _from("tasks", _of(lambda v: read_view(TaskView, v)))
    faults: list[FaultView] = _from("faults", _of(lambda v: read_view(FaultView, v)))
    files: list[FileView] = _from("outputs", _of(lambda v: read_view(FileView, v)))
    started_at: Optional[datetime] = _maybe("startedAt", _time)
    ended_at: Optional[datetime] = _maybe("endedAt", _time)
    owner: Optional[str] = _maybe("owner", _text)
    room: Optional[str] = _maybe("room", _text)
    rooms: Optional[list[ClusterRoomView]] = _maybe("rooms", _of(lambda v: read_view(ClusterRoomView, v)))
    reason: Optional[str] = _maybe("reason", _text)
    progress: Optional[float] = _maybe("progress.fraction", _number)
    remaining_s: Optional[float] = _maybe("progress.remainingMs", lambda v: _whole(v) / 1000)
    error: Optional[ErrorView] = _maybe("error", lambda v: read_view(ErrorView, v))
    exit_code: Optional[int] = _maybe("exitCode", _whole)
    parts: Optional[list[PartView]] = _maybe("parts", _of(lambda v: read_view(PartView, v)))
    waves: Optional[WavesView] = _maybe("waves", lambda v: read_view(WavesView, v))
    raw: dict[str, Any] = dataclasses.field(default_factory=dict, repr=False)

    @property
    def ended(self) -> bool:
        return self.state in ("done", "failed", "cancelled")

    def __str__(self) -> str:
        at_work = sum(t.state in ("running", "done") for t in self.tasks)
        images = sum(t.images for t in self.tasks)
        recovered = sum(f.recovered_after_ms is not None for f in self.faults)
        if self.error is not None:
            what = self.error.message
        else:
            what = self.reason or (f"{at_work} of {self.ranks} ranks" if self.tasks else f"{self.ranks} ranks")
        far = [] if self.progress is None else [f"{int(self.progress * 100)} %"]
        more = far + [f"{images} images"] * (images > 0) + [f"{recovered} recovered"] * (recovered > 0)
        return plain(", ".join([f"job {self.id} {self.state}", what, *more]))


@dataclass(frozen=True)
class NodeView:
    """A volunteer. slots: how many ranks it offers to run at the same time; busy: how many it runs."""

    id: str = _from("id", _text)
    name: str = _from("name", _text)
    engine: str = _from("engine", _text)
    slots: int = _from("slots", _whole)
    busy: int = _from("busy", _whole)
    state: str = _from("state", _text)
    room: Optional[str] = _maybe("room", _text)
    raw: dict[str, Any] = dataclasses.field(default_factory=dict, repr=False)


@dataclass(frozen=True)
class RoomView:
    """A room: its join code, and what its volunteers offer."""

    code: str = _from("code", _text)
    name: str = _from("name", _text)
    nodes: int = _from("nodes", _whole)
    slots: int = _from("slots", _whole)
    free: int = _from("free", _whole)
    jobs: int = _from("jobs", _whole)


@dataclass(frozen=True)
class QuotaView:
    """What the jobs of one owner use at once, and may use. A limit that is None does not exist.

    slots: ranks of jobs that have begun. jobs: those that have not ended. bytes: of files, output and checkpoints.
    """

    owner: str = _from("owner", _text)
    slots: int = _from("used.slots", _whole)
    jobs: int = _from("used.jobs", _whole)
    bytes: int = _from("used.bytes", _whole)
    most_slots: Optional[int] = _maybe("limits.slots", _whole)
    most_jobs: Optional[int] = _maybe("limits.jobs", _whole)
    most_bytes: Optional[int] = _maybe("limits.bytes", _whole)


@dataclass(frozen=True)
class ServerInfo:
    """What the server says of itself without a token. Slots are counted over all nodes that are here."""

    version: str = _from("version", _text)
    nodes: int = _from("slots.nodes", _whole)
    slots: int = _from("slots.total", _whole)
    free: int = _from("slots.free", _whole)
    max_submission_bytes: Optional[int] = _maybe("maxSubmissionBytes", _whole)
    max_input_bytes: Optional[int] = _maybe("maxInputBytes", _whole)
