"""What can go wrong. Every error is a `MayflyError` with a stable code.

Codes of the server are those of docs/errors.md. The client adds: UNREACHABLE, BAD_CERTIFICATE, BAD_ANSWER, NO_SERVER,
BAD_SETTINGS, BAD_PROGRAM, BAD_FILE, WAIT_TIMEOUT, EXIT_CODE.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Optional, Sequence

if TYPE_CHECKING:
    from .views import JobView


def plain(text: str) -> str:
    """For terminals and logs: a blank for each character that is not printable, as escape sequences have them.

    Nodes and programs write some of it. Its further lines are indented: none looks like one of this client.
    """
    lines = text.replace("\r\n", "\n").split("\n")
    return "\n  ".join("".join(c if c.isprintable() or c == "\t" else " " for c in line) for line in lines)


@dataclass(frozen=True)
class Diagnostic:
    """One message of the compiler. Lines and columns count from 1."""

    file: str
    line: int
    column: int
    code: str
    message: str

    def __str__(self) -> str:
        return plain(f"{self.file}:{self.line}:{self.column} {self.code}: {self.message}")


class MayflyError(Exception):
    """A refusal of the server, or an error of this client.

    code: stable, for programs; message: a sentence for people, as it came (str() of the error is fit for a terminal);
    status: of HTTP, where the server answered; diagnostics: messages of the compiler, for COMPILE_FAILED and FORBIDDEN_IMPORT.
    """

    def __init__(
        self, code: str, message: str, status: Optional[int] = None, diagnostics: Sequence[Diagnostic] = ()
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.status = status
        self.diagnostics = tuple(diagnostics)

    def __str__(self) -> str:
        return "\n  ".join([plain(f"{self.message} ({self.code})"), *map(str, self.diagnostics)])


class Unreachable(MayflyError):
    """The server does not answer (code UNREACHABLE)."""

    def __init__(self, message: str) -> None:
        super().__init__("UNREACHABLE", message)


class WaitTimeout(MayflyError, TimeoutError):
    """`Job.wait` has waited for its whole timeout; the job goes on (code WAIT_TIMEOUT)."""

    def __init__(self, message: str) -> None:
        super().__init__("WAIT_TIMEOUT", message)


class JobFailed(MayflyError):
    """The job failed, was cancelled, or ended with an exit code other than 0 (code EXIT_CODE). `view` is its end."""

    def __init__(self, code: str, message: str, view: JobView) -> None:
        super().__init__(code, message)
        self.view = view
