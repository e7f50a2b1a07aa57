"""The build backend of this package (PEP 517): a wheel is a zip file, and this writes one.

It needs the standard library alone, so that `pip install ./clients/python` works without a package index.
"""

from __future__ import annotations

import base64
import hashlib
import io
import re
import tarfile
import zipfile
from pathlib import Path
from typing import Any, Iterable, Optional

ROOT = Path(__file__).resolve().parent
# Archives of the same sources have the same bytes.
WHEN = (1980, 1, 1, 0, 0, 0)


def _project() -> dict[str, str]:
    """The strings of the table [project]. Python 3.9 has no reader of TOML; these lines need none."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    table = text.split("[project]\n", 1)[1].split("\n[", 1)[0]
    return dict(re.findall(r'^([a-z-]+) = "([^"\\]*)"$', table, re.MULTILINE))


def _metadata() -> str:
    p = _project()
    head = [
        "Metadata-Version: 2.1",
        f"Name: {p['name']}",
        f"Version: {p['version']}",
        f"Summary: {p['description']}",
        f"License: {p['license']}",
        f"Requires-Python: {p['requires-python']}",
        "Description-Content-Type: text/markdown",
    ]
    return "\n".join(head) + "\n\n" + (ROOT / p["readme"]).read_text(encoding="utf-8")


def _stem() -> str:
    p = _project()
    return f"{p['name']}-{p['version']}"


def _modules() -> Iterable[Path]:
    return sorted(f for f in (ROOT / "mayfly").iterdir() if f.suffix == ".py" or f.name == "py.typed")


def _wheel(folder: str, content: Iterable[tuple[str, bytes]]) -> str:
    stem = _stem()
    info = f"{stem}.dist-info"
    tags = "Wheel-Version: 1.0\nGenerator: mayfly\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    files = [*content, (f"{info}/METADATA", _metadata().encode()), (f"{info}/WHEEL", tags.encode())]
    name = f"{stem}-py3-none-any.whl"
    record = ""
    with zipfile.ZipFile(Path(folder) / name, "w", zipfile.ZIP_DEFLATED) as wheel:
        for path, data in files:
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            record += f"{path},sha256={digest},{len(data)}\n"
            _add(wheel, path, data)
        _add(wheel, f"{info}/RECORD", (record + f"{info}/RECORD,,\n").encode())
    return name


def _add(wheel: zipfile.ZipFile, path: str, data: bytes) -> None:
    entry = zipfile.ZipInfo(path, WHEN)
    entry.external_attr = 0o644 << 16
    entry.compress_type = zipfile.ZIP_DEFLATED
    wheel.writestr(entry, data)


def build_wheel(
    wheel_directory: str, config_settings: Optional[dict[str, Any]] = None, metadata_directory: Optional[str] = None
) -> str:
    return _wheel(wheel_directory, [(f"mayfly/{f.name}", f.read_bytes()) for f in _modules()])


def build_editable(
    wheel_directory: str, config_settings: Optional[dict[str, Any]] = None, metadata_directory: Optional[str] = None
) -> str:
    return _wheel(wheel_directory, [("mayfly.pth", f"{ROOT}\n".encode())])


def build_sdist(sdist_directory: str, config_settings: Optional[dict[str, Any]] = None) -> str:
    stem = _stem()
    name = f"{stem}.tar.gz"
    files = [(str(f.relative_to(ROOT)), f.read_bytes()) for f in _modules()]
    files += [(f, (ROOT / f).read_bytes()) for f in ("pyproject.toml", "build_backend.py", "README.md")]
    with tarfile.open(Path(sdist_directory) / name, "w:gz", format=tarfile.PAX_FORMAT) as archive:
        for path, data in [*files, ("PKG-INFO", _metadata().encode())]:
            entry = tarfile.TarInfo(f"{stem}/{path}")
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    return name
