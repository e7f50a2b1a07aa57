"""Requests to the server: TLS, tokens, errors with codes, and another try while the server restarts.

T1 A request whose repetition could do harm is sent at most once. It is tried again only if no connection was made.
T2 No token leaves before the certificate has been checked.
T3 The first request to a server that does not answer fails at once. Later ones wait for it, `patience` seconds long.
"""

from __future__ import annotations

import hashlib
import hmac
import http.client
import json
import re
import ssl
import time
from contextlib import closing
from typing import Any, Callable, Iterator, Mapping, Optional, TypeVar, Union
from urllib.parse import quote, urlencode

from .errors import Diagnostic, MayflyError, Unreachable
from .settings import Settings

PIECE_BYTES = 1 << 18
"""Downloads are read in pieces of this size."""
FIRST_PAUSE_S = 0.1
LONGEST_PAUSE_S = 2.0

T = TypeVar("T")
Query = Mapping[str, Union[str, int]]


class _Again(Exception):
    """Worth another try. pause_s: what the server asked for. answered: it is there, and refused."""

    def __init__(self, cause: Exception, pause_s: float = 0.0, answered: bool = False) -> None:
        super().__init__(str(cause))
        self.cause = cause
        self.pause_s = pause_s
        self.answered = answered


class _Response(http.client.HTTPResponse):
    """What is missing at the end of a body is an error, also when it is read in pieces."""

    def pieces(self) -> Iterator[bytes]:
        while True:
            piece = self.read(PIECE_BYTES)
            if not piece:
                break
            yield piece
        if self.length:
            raise http.client.IncompleteRead(b"", self.length)


class Transport:
    """timeout: seconds that one answer may keep this client waiting; patience: see T3."""

    def __init__(
        self,
        settings: Settings,
        *,
        timeout: float,
        patience: float,
        ca_file: Optional[str] = None,
        fingerprint: Optional[str] = None,
    ) -> None:
        self.settings = settings
        self._timeout = timeout
        self._patience = patience
        self._fingerprint = None if fingerprint is None else _digest(fingerprint)
        self._context = self._tls(ca_file) if settings.https else None
        self._reached = False

    def _tls(self, ca_file: Optional[str]) -> ssl.SSLContext:
        try:
            context = ssl.create_default_context(cafile=ca_file)
        except (OSError, ssl.SSLError) as error:
            raise MayflyError("BAD_SETTINGS", f"cannot use {ca_file} as certificates: {error}") from None
        if self._fingerprint is not None or self.settings.insecure:
            # With a fingerprint it is this one certificate, whoever signed it: _connect compares.
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        return context

    def json(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        again: bool = False,
        key: Optional[str] = None,
        patience: Optional[float] = None,
    ) -> Any:
        """The answer, decoded. again: sending it twice does no harm, as with every GET. key: with this Idempotency-Key
        it does none, and it is sent again when a connection breaks before the answer. patience: at most, seconds.

        Raises MayflyError.
        """
        data = None if body is None else json.dumps(body).encode()

        def once() -> Any:
            with closing(self._open(method, path, None, data, key)) as response:
                text = b"".join(response.pieces())
            try:
                return json.loads(text)
            except ValueError:
                raise self._strange(response.status) from None

        return self._try(once, again or method == "GET", patience, key is not None)

    def pieces(self, path: str, query: Callable[[], Query]) -> Iterator[bytes]:
        """A body of any size, in pieces. A broken connection calls `query` again, for the rest."""
        deadline: Optional[float] = None
        while True:
            response = self._try(lambda: self._open("GET", path, query(), None), again=True)
            try:
                with closing(response):
                    for piece in response.pieces():
                        deadline = None
                        yield piece
                return
            except (OSError, http.client.HTTPException) as error:
                # A connection that breaks before each first byte ends after the same time.
                now = time.monotonic()
                deadline = now + self._patience if deadline is None else deadline
                if now > deadline:
                    raise self._gone(error) from None
                time.sleep(FIRST_PAUSE_S)

    def download(self, path: str, begin: Callable[[], None], take: Callable[[bytes], Any]) -> None:
        """A whole body. `begin` is called before its first byte, again after a broken connection."""

        def once() -> None:
            begin()
            with closing(self._open("GET", path, None, None)) as response:
                for piece in response.pieces():
                    take(piece)

        self._try(once, again=True)

    def _try(
        self, once: Callable[[], T], again: bool, patience: Optional[float] = None, keyed: bool = False
    ) -> T:
        deadline = time.monotonic() + (self._patience if patience is None else min(patience, self._patience))
        pause = FIRST_PAUSE_S
        while True:
            try:
                result = once()
                self._reached = True
                return result
            except MayflyError:
                self._reached = True
                raise
            except _Again as error:
                cause, wait = error.cause, max(pause, error.pause_s)
                if error.answered and not again:
                    raise cause from None
                answered = error.answered
            except (OSError, http.client.HTTPException) as error:
                # The connection broke after the request left.
                if keyed and isinstance(error, (ConnectionResetError, BrokenPipeError)):
                    again = self._reached = True
                if not again:
                    raise Unreachable(
                        f"{self.settings.origin} went away before it answered ({_why(error)}); the request may have "
                        "taken effect: look before you send it again"
                    ) from None
                cause, wait, answered = self._gone(error), pause, False
            left = deadline - time.monotonic()
            if not (self._reached or answered) or left <= 0 or (answered and wait > left):
                raise cause from None
            time.sleep(min(wait, left))
            pause = min(LONGEST_PAUSE_S, 2 * pause)

    def _gone(self, error: Exception) -> Unreachable:
        return Unreachable(f"cannot reach {self.settings.origin}: {_why(error)}")

    def _open(
        self, method: str, path: str, query: Optional[Query], body: Optional[bytes], key: Optional[str] = None
    ) -> _Response:
        """Sends a request. Raises _Again, MayflyError (refused), OSError and HTTPException (a lost connection)."""
        connection = self._connect()
        try:
            headers = {"accept": "application/json, */*", "connection": "close"}
            if self.settings.token is not None:
                headers["authorization"] = f"Bearer {self.settings.token}"
            if body is not None:
                headers["content-type"] = "application/json"
            if key is not None:
                headers["idempotency-key"] = key
            target = quote(path) + (f"?{urlencode(query)}" if query else "")
            connection.request(method, target, body, headers)
            response = connection.getresponse()
            if response.status >= 300:
                with closing(response):
                    raise self._refusal(response, response.read(PIECE_BYTES))
        except BaseException:
            connection.close()
            raise
        assert isinstance(response, _Response)
        return response

    def _connect(self) -> http.client.HTTPConnection:
        s = self.settings
        connection = (
            http.client.HTTPConnection(s.host, s.port, timeout=self._timeout)
            if self._context is None
            else http.client.HTTPSConnection(s.host, s.port, timeout=self._timeout, context=self._context)
        )
        connection.response_class = _Response
        try:
            connection.connect()
        except ssl.SSLCertVerificationError as error:
            raise MayflyError(
                "BAD_CERTIFICATE",
                f"the certificate of {s.origin} is not trusted ({error.verify_message}): pass ca_file, or fingerprint",
            ) from None
        except OSError as error:
            raise _Again(self._gone(error)) from None
        if self._fingerprint is not None and isinstance(connection.sock, ssl.SSLSocket):
            found = hashlib.sha256(connection.sock.getpeercert(binary_form=True) or b"").hexdigest()
            if not hmac.compare_digest(found, self._fingerprint):
                connection.close()
                raise MayflyError("BAD_CERTIFICATE", f"the certificate of {s.origin} has the SHA-256 {found}")
        return connection

    def _refusal(self, response: http.client.HTTPResponse, text: bytes) -> Exception:
        try:
            body = json.loads(text)
            error: MayflyError = MayflyError(
                str(body["code"]),
                str(body["message"]),
                response.status,
                [_diagnostic(d) for d in body.get("diagnostics", [])],
            )
        except (ValueError, KeyError, TypeError, AttributeError):
            error = self._strange(response.status)
        if response.status == 401 and self.settings.token is None:
            error = MayflyError("UNAUTHORIZED", "this server requires a token: pass it, or set MAYFLY_TOKEN", 401)
        if response.status in (429, 502, 503, 504):
            wait = response.getheader("retry-after", "")
            return _Again(error, float(wait) if wait.isdigit() else 0.0, answered=True)
        return error

    def _strange(self, status: int) -> MayflyError:
        return MayflyError(
            "BAD_ANSWER", f"{self.settings.origin} answered {status}, but not in JSON: is it a Mayfly server?", status
        )


def _diagnostic(d: Any) -> Diagnostic:
    return Diagnostic(str(d["file"]), int(d["line"]), int(d["column"]), str(d["code"]), str(d["message"]))


def _digest(fingerprint: str) -> str:
    digest = fingerprint.replace(":", "").replace(" ", "").lower()
    if not re.fullmatch("[0-9a-f]{64}", digest):
        raise MayflyError("BAD_SETTINGS", "a fingerprint is the SHA-256 of the certificate: 64 hexadecimal digits")
    return digest


def _why(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error) or type(error).__name__
