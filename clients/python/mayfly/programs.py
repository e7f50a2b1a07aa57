"""What `submit` is given to run, as the server takes it: TypeScript, C or C++, a module, a folder or an archive.

The rules are those of the command line (apps/cli/src/read-program.ts): a program consists of the named files and of
what they import or include from their own folder.
"""

from __future__ import annotations

import base64
import io
import os
import re
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Iterable, Mapping, Optional, Sequence, Union

from .errors import MayflyError

AnyPath = Union[str, "os.PathLike[str]"]

UNIT = re.compile(r"\.(c|cc|cpp|cxx|C|c\+\+)$")
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"\n]+)"', re.MULTILINE)
IMPORT = re.compile(r"""(?:\bfrom|\bimport|\brequire)\s*\(?\s*(?:"(\.\.?/[^"\n]+)"|'(\.\.?/[^'\n]+)')""")
SCRIPTS = (".ts", ".tsx", ".mts", ".js", ".mjs", ".jsx", ".json")
FOLDER_FILES = re.compile(
    r"\.(json|[cm]?[jt]sx?|txt|wasm|h|hh|hpp|hxx|h\+\+|H|inc|inl|ipp|tpp|tcc|def|x|c|cc|cpp|cxx|C|c\+\+)$"
)
SKIPPED = {"node_modules", "build", "CMakeFiles", "dist"}
MOST_FILES = 4000
MOST_BYTES = 40 << 20
# mpicc puts a few lines of shell before a module, so that it can be started.
LAUNCHER_BYTES = 8192


@dataclass(frozen=True)
class Program:
    """A program, as the field `program` of a submission; `name` is the job's, unless it has another."""

    name: str
    body: dict[str, Any]

    @staticmethod
    def typescript(source: str, name: str = "main.ts") -> Program:
        """A program of one file, from its text."""
        return Program(name, {"language": "typescript", "entry": name, "sources": {name: source}})

    @staticmethod
    def c(source: str, name: str = "main.c", flags: Sequence[str] = ()) -> Program:
        """A program of one file in C (or, named .cpp, in C++), from its text. The server compiles it."""
        return Program(name, _native({name: source}, [name], list(flags)))

    @staticmethod
    def read(paths: Union[AnyPath, Sequence[AnyPath]], flags: Sequence[str] = ()) -> Program:
        """Files of this machine. Several paths: files of C or C++. flags: for their compiler.

        Raises MayflyError: BAD_PROGRAM, FORBIDDEN_IMPORT.
        """
        files = [Path(paths)] if isinstance(paths, (str, os.PathLike)) else [Path(p) for p in paths]
        if not files:
            raise MayflyError("BAD_PROGRAM", "name at least one file")
        first = files[0]
        native = all(UNIT.search(f.name) for f in files)
        if (len(files) > 1 or flags) and not native:
            raise MayflyError("BAD_PROGRAM", "only a program in C or C++ has several files, or flags")
        try:
            if native:
                return _read_native(files, flags)
            if first.is_dir():
                return Program(first.resolve().name, {"language": "archive", "archive": _base64(_zip(first))})
            with first.open("rb") as file:
                head = file.read(LAUNCHER_BYTES)
            magic = head[:4]
            begins = 0 if magic == b"\0asm" else head.find(b"\n\0asm") + 1 if magic[:2] == b"#!" else 0
            if magic == b"\0asm" or begins > 0:
                entry = re.sub("^[^A-Za-z0-9_]+", "", re.sub("[^A-Za-z0-9_.@+-]", "_", first.name))[-100:] or "a.out"
                module = first.read_bytes()[begins:]
                return Program(first.name, {"language": "wasm", "module": _base64(module), "entry": entry})
            if magic == b"\x7fELF":
                raise MayflyError("BAD_PROGRAM", f"{first} is a native executable: build it with mayfly mpicc")
            if magic[:2] == b"PK" or re.search(r"\.(tar|tgz|tar\.gz)$", first.name):
                return Program(first.name, {"language": "archive", "archive": _base64(first.read_bytes())})
            return _read_script(first)
        except OSError as error:
            raise MayflyError("BAD_PROGRAM", f"cannot read {error.filename or first}: {error.strerror}") from None


@dataclass(frozen=True)
class Part:
    """A further program of a job, and how many ranks run it: behind the ranks of the program before it.

    program, flags: as for Client.submit. env: environment variables of its ranks, in place of those of the job.
    """

    program: Union[Program, AnyPath, Sequence[AnyPath]]
    ranks: int
    args: Sequence[object] = ()
    env: Optional[Mapping[str, str]] = None
    flags: Sequence[str] = ()

    def submission(self) -> tuple[str, dict[str, Any]]:
        """The program's name, and the part as the server takes it. Raises MayflyError: BAD_PROGRAM, …"""
        read = program_of(self.program, self.flags)
        body: dict[str, Any] = {"program": read.body, "size": self.ranks, "args": [str(a) for a in self.args]}
        if self.env is not None:
            body["env"] = dict(self.env)
        return read.name, body


def program_of(program: Union[Program, AnyPath, Sequence[AnyPath]], flags: Sequence[str]) -> Program:
    """Reads it from this machine, unless it is a Program. Raises MayflyError: BAD_PROGRAM, FORBIDDEN_IMPORT."""
    if not isinstance(program, Program):
        return Program.read(program, flags)
    if flags:
        raise MayflyError("BAD_PROGRAM", "a Program has its own flags: Program.c(source, flags=…)")
    return program


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode()


def _text(path: Path) -> str:
    data = path.read_bytes()
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        if UNIT.search(path.name) or FOLDER_FILES.search(path.name) and path.suffix not in SCRIPTS:
            # Old sources have names of authors in Latin 1, in comments.
            return data.decode("latin-1")
        raise MayflyError("BAD_PROGRAM", f"{path} is not UTF-8 text") from None


def _read_script(entry: Path) -> Program:
    """The entry and what it imports from its folder. What is missing, the server names with its place."""
    root = entry.parent.resolve()
    sources: dict[str, str] = {}
    queue = [entry.name]
    while queue:
        path = queue.pop(0)
        if path in sources:
            continue
        full = root / path
        if full.resolve() != full:
            raise MayflyError("FORBIDDEN_IMPORT", f"{path} is a link; a program consists of plain files of its folder")
        sources[path] = _text(full)
        if not path.endswith(SCRIPTS) or path.endswith(".json"):
            continue
        for double, single in IMPORT.findall(sources[path]):
            base = os.path.normpath(os.path.join(os.path.dirname(path), double or single)).replace(os.sep, "/")
            if base.startswith(".."):
                continue
            found = next((c for c in _candidates(base) if (root / c).is_file()), None)
            if found is not None:
                queue.append(found)
    return Program(entry.name, {"language": "typescript", "entry": entry.name, "sources": sources})


def _candidates(base: str) -> Iterable[str]:
    """TypeScript's order: the very file, with an extension, the index of a folder. `.js` may mean the `.ts`."""
    folder = "" if base == "." else f"{base}/"
    if folder:
        yield base
        yield from (base + s for s in SCRIPTS)
        yield f"{base}.d.ts"
        written = re.fullmatch(r"(.*)\.(m?)jsx?", base)
        if written:
            yield f"{written[1]}.{written[2]}ts"
            yield f"{written[1]}.tsx"
    yield from (f"{folder}index{s}" for s in SCRIPTS if s != ".json")


def _read_native(units: Sequence[Path], flags: Sequence[str]) -> Program:
    """The files, and the headers that they include by `"…"`. What is missing, clang names with its place."""
    flags = list(flags)
    folders = {i: Path(f[2:]).resolve() for i, f in enumerate(flags) if f.startswith("-I") and len(f) > 2}
    folders.update({i + 1: Path(flags[i + 1]).resolve() for i, f in enumerate(flags[:-1]) if f == "-I"})
    texts: dict[Path, str] = {}
    queue = [u.resolve() for u in units]
    first = list(queue)
    while queue:
        at = queue.pop(0)
        if at in texts:
            continue
        if len(texts) >= MOST_FILES:
            raise MayflyError("BAD_PROGRAM", f"the program has more than {MOST_FILES} files")
        texts[at] = _text(at)
        for name in INCLUDE.findall(texts[at]):
            headers = (Path(os.path.normpath(f / name)) for f in (at.parent, *folders.values()))
            found = next((h for h in headers if h.is_file()), None)
            if found is not None:
                queue.append(found)
    root = Path(os.path.commonpath([str(p.parent) for p in texts]))
    for i, folder in folders.items():
        inside = os.path.relpath(folder, root).replace(os.sep, "/")
        # A folder outside holds no file of the program.
        moved = "" if inside.startswith("..") else f"-I{inside}"
        if flags[i].startswith("-I"):
            flags[i] = moved
        else:
            flags[i - 1], flags[i] = moved, ""
    sources = {p.relative_to(root).as_posix(): text for p, text in texts.items()}
    body = _native(sources, [p.relative_to(root).as_posix() for p in first], [f for f in flags if f])
    return Program(units[0].name, body)


def _native(sources: dict[str, str], units: list[str], flags: list[str]) -> dict[str, Any]:
    language = "c" if all(u.endswith(".c") for u in units) else "c++"
    return {"language": language, "sources": sources, "units": units, **({"flags": flags} if flags else {})}


def _zip(folder: Path) -> bytes:
    """A folder with mayfly.json, as an archive of its sources."""
    if not (folder / "mayfly.json").is_file():
        raise MayflyError("BAD_PROGRAM", f"the folder {folder} has no mayfly.json (docs/programs.md describes it)")
    buffer = io.BytesIO()
    files = size = 0
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for where, folders, names in os.walk(folder):
            folders[:] = sorted(f for f in folders if not f.startswith(".") and f not in SKIPPED)
            for name in sorted(names):
                full = Path(where) / name
                if name.startswith(".") or full.is_symlink() or not FOLDER_FILES.search(name):
                    continue
                data = full.read_bytes()
                files, size = files + 1, size + len(data)
                if files > MOST_FILES or size > MOST_BYTES:
                    raise MayflyError(
                        "BAD_PROGRAM",
                        f"the folder {folder} holds more than {MOST_BYTES >> 20} MB or {MOST_FILES} files of sources",
                    )
                archive.writestr(zipfile.ZipInfo(full.relative_to(folder).as_posix()), data)
    return buffer.getvalue()
