"""Which server, with which token: arguments, then MAYFLY_SERVER and MAYFLY_TOKEN, then the file of `mayfly login`.

The command line `mayfly` has the same rules (apps/cli/src/connection.ts). The file is mayfly/config.json below
$XDG_CONFIG_HOME, or below ~/.config: {"server": "…", "token": "…", "insecure": false}.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Mapping, Optional
from urllib.parse import SplitResult, parse_qs, urlsplit

from .errors import MayflyError


@dataclass(frozen=True)
class Settings:
    """https: whether the server speaks TLS; host without brackets; insecure: accept any certificate."""

    https: bool
    host: str
    port: int
    token: Optional[str]
    insecure: bool

    @property
    def origin(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{'https' if self.https else 'http'}://{host}:{self.port}"


def find_settings(
    url: Optional[str],
    token: Optional[str],
    insecure: Optional[bool],
    environment: Optional[Mapping[str, str]] = None,
) -> Settings:
    """Raises MayflyError: NO_SERVER when none is named anywhere, BAD_SETTINGS for what cannot be read."""
    env = os.environ if environment is None else environment
    home = env.get("XDG_CONFIG_HOME") or os.path.join(env.get("HOME") or os.path.expanduser("~"), ".config")
    config = _read(Path(home) / "mayfly" / "config.json")
    server = url or env.get("MAYFLY_SERVER") or config.get("server")
    if not server:
        raise MayflyError("NO_SERVER", "no server: pass its URL, set MAYFLY_SERVER, or use `mayfly login`")
    parts, place = _parse(server)
    # The token of the file belongs to the server that is named there, and goes to no other.
    known = (
        token
        or env.get("MAYFLY_TOKEN")
        or (config.get("token") if "server" in config and _parse(config["server"])[1] == place else None)
        or parse_qs(parts.query).get("token", [None])[0]
    )
    if known is not None and not all(" " < c <= "~" for c in known):
        raise MayflyError("BAD_SETTINGS", "a token consists of printable characters without spaces")
    return Settings(*place, known, bool(config.get("insecure", False)) if insecure is None else insecure)


def _parse(server: str) -> tuple[SplitResult, tuple[bool, str, int]]:
    """Its parts; and whether it speaks TLS, its host and its port."""
    try:
        parts = urlsplit(server if "://" in server else f"http://{server}")
        port = parts.port or (443 if parts.scheme == "https" else 80)
    except ValueError as error:
        raise MayflyError("BAD_SETTINGS", f"{server!r} is not a server URL: {error}") from None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise MayflyError("BAD_SETTINGS", f"{server!r} is not a server URL: it starts with http:// or https://")
    return parts, (parts.scheme == "https", parts.hostname, port)


def _read(path: Path) -> dict[str, Any]:
    try:
        text = path.read_text(encoding="utf-8")
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise MayflyError("BAD_SETTINGS", f"cannot read {path}: {error}") from None
    try:
        value = json.loads(text)
    except ValueError:
        value = None
    kinds = {"server": str, "token": str, "insecure": bool}
    if not isinstance(value, dict) or any(k in value and not isinstance(value[k], t) for k, t in kinds.items()):
        raise MayflyError("BAD_SETTINGS", f'{path} is not valid: expected {{"server": "…", "token": "…"}}')
    return value
