"""One job of a server: wait for it, read what it wrote, end it."""

from __future__ import annotations

import os
import re
import secrets
import sys
import time
from pathlib import Path
from typing import Callable, Iterator, Optional, Sequence, Union

from .errors import Diagnostic, JobFailed, MayflyError, Unreachable, WaitTimeout
from .transport import Transport
from .views import FileView, JobView, read_view

FIRST_LOOK_S = 0.1
LONGEST_LOOK_S = 1.0
SAFE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.@+:-]*(/[A-Za-z0-9_][A-Za-z0-9_.@+:-]*)*")


class Job:
    """A handle of a job; it holds its id and no state. warnings: what the compiler found, of a job just submitted."""

    def __init__(self, transport: Transport, id: str, warnings: Sequence[Diagnostic] = ()) -> None:
        if not re.fullmatch("[0-9a-z]{12}", id):
            raise MayflyError("BAD_REQUEST", f"{id!r} is not the id of a job: 12 digits and small letters")
        self._transport = transport
        self.id = id
        self.warnings = tuple(warnings)

    def __repr__(self) -> str:
        return f"Job({self.id!r})"

    @property
    def _path(self) -> str:
        return f"/api/jobs/{self.id}"

    def view(self) -> JobView:
        """The job at this moment."""
        return read_view(JobView, self._transport.json("GET", self._path))

    def wait(
        self,
        timeout: Optional[float] = None,
        progress: Optional[Callable[[JobView], object]] = None,
        check: bool = True,
    ) -> JobView:
        """Waits until the job has ended, also while the server restarts.

        timeout: seconds. progress: called with the job whenever `str(view)` changes. check: raise JobFailed unless the
        job is done with exit code 0. Raises WaitTimeout, JobFailed, MayflyError.
        """
        deadline = None if timeout is None else time.monotonic() + timeout
        pause = FIRST_LOOK_S
        shown = ""
        while True:
            patience = None if deadline is None else max(0.0, deadline - time.monotonic())
            try:
                view = read_view(JobView, self._transport.json("GET", self._path, patience=patience))
            except Unreachable as error:
                if deadline is None or time.monotonic() < deadline:
                    raise
                raise WaitTimeout(f"not ended after {timeout:g} s: {error.message}") from None
            if progress is not None and str(view) != shown:
                shown = str(view)
                progress(view)
            if view.ended:
                return _checked(view) if check else view
            left = pause if deadline is None else min(pause, deadline - time.monotonic())
            if left <= 0:
                raise WaitTimeout(f"not ended after {timeout:g} s: {view}")
            time.sleep(left)
            pause = min(LONGEST_LOOK_S, 1.5 * pause)

    def output(self, rank: Optional[int] = None, stream: str = "stdout") -> str:
        """What one rank has written so far, or all of them, in the order of their ranks. stream: stdout or stderr.

        Bytes that are not UTF-8 become U+FFFD; `output_bytes` has them as they are. Raises MayflyError.
        """
        return self.output_bytes(rank, stream).decode("utf-8", "replace")

    def output_bytes(self, rank: Optional[int] = None, stream: str = "stdout") -> bytes:
        """As `output`, byte for byte."""
        ranks = range(self.view().ranks) if rank is None else [rank]
        return b"".join(piece for r in ranks for piece in self.output_pieces(r, stream))

    def output_pieces(self, rank: int, stream: str = "stdout") -> Iterator[bytes]:
        """What one rank has written so far, in pieces, for output that is larger than memory."""
        if stream not in ("stdout", "stderr"):
            raise MayflyError("BAD_REQUEST", f"the stream is stdout or stderr, not {stream!r}")
        taken = 0
        for piece in self._transport.pieces(f"{self._path}/tasks/{int(rank)}/{stream}", lambda: {"from": taken}):
            taken += len(piece)
            yield piece

    def files(self) -> list[ResultFile]:
        """The result files that the job has written so far."""
        return [ResultFile(self._transport, self._path, f) for f in self.view().files]

    def save_files(self, folder: Union[str, os.PathLike[str]] = ".") -> list[Path]:
        """Writes the result files below a folder. Raises MayflyError BAD_FILE, before anything is written."""
        files = self.files()
        for f in files:
            f.place(folder)
        return [f.save(folder) for f in files]

    def cancel(self) -> JobView:
        """Ends the job. The state of what this returns says whether it was cancelled, or had ended before."""
        try:
            self._transport.json("POST", f"{self._path}/cancel", again=True)
        except MayflyError as error:
            if error.code != "CONFLICT":
                raise
        return self.view()

    def delete(self) -> None:
        """Deletes an ended job with all its files on the server."""
        self._transport.json("DELETE", self._path)


class ResultFile:
    """A result file on the server. path: its name, with slashes; size: bytes; rank: the rank that wrote it."""

    def __init__(self, transport: Transport, job: str, view: FileView) -> None:
        self._transport = transport
        self._job = job
        self.path = view.path
        self.size = view.size
        self.rank = view.rank

    def __repr__(self) -> str:
        return f"ResultFile({self.path!r}, size={self.size})"

    def read(self) -> bytes:
        """The content, in memory."""
        data = bytearray()
        self._transport.download(f"{self._job}/files/{self.path}", data.clear, data.extend)
        return bytes(data)

    def place(self, folder: Union[str, os.PathLike[str]]) -> Path:
        """Where `save` writes it. Names come from other machines: one that leaves the folder raises BAD_FILE."""
        local = self.path.replace(":", "_") if sys.platform == "win32" else self.path
        if not SAFE.fullmatch(self.path):
            raise MayflyError("BAD_FILE", f"the result file {self.path!r} does not have a plain relative name")
        at = Path(folder).resolve()
        for step in local.split("/"):
            at = at / step
            if at.is_symlink():
                raise MayflyError("BAD_FILE", f"the result file {self.path!r} was not written: {at} is a link")
        if at.is_dir():
            raise MayflyError("BAD_FILE", f"the result file {self.path!r} was not written: {at} is a folder")
        return at

    def save(self, folder: Union[str, os.PathLike[str]] = ".") -> Path:
        """Writes it below a folder, whole or not at all, and replaces a file of that name."""
        at = self.place(folder)
        at.parent.mkdir(parents=True, exist_ok=True)
        part = at.with_name(f"{at.name}.part-{secrets.token_hex(4)}")
        try:
            with part.open("xb") as file:

                def begin() -> None:
                    file.seek(0)
                    file.truncate()

                self._transport.download(f"{self._job}/files/{self.path}", begin, file.write)
            os.replace(part, at)
        except BaseException:
            part.unlink(missing_ok=True)
            raise
        return at


def _checked(view: JobView) -> JobView:
    if view.state != "done" or view.error is not None:
        error = view.error
        raise JobFailed(
            error.code if error else view.state.upper(),
            f"job {view.id} {view.state}: {error.message if error else view.reason or 'no reason is known'}",
            view,
        )
    if view.exit_code:
        raise JobFailed("EXIT_CODE", f"job {view.id} ended with the exit code {view.exit_code}", view)
    return view
