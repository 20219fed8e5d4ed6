"""An error in one line: what is wrong, what to do where that is known, and whose line it was."""

from __future__ import annotations

import errno
import re
import site
import sys
import sysconfig
import traceback
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

import rehead

LONGEST = 600
"""Letters of a line; lists of a network's layers can be much longer."""
SEE_MORE = "`rehead --traceback ...` shows where it comes from."
DAMAGED = "is damaged or incomplete ({said}). Write it or get it again."
OURS = (ValueError, TypeError, OSError, ImportError)
"""Kinds that rehead itself raises, with words of its own."""
KNOWN = {
    "MemoryError": "Memory ran out ({said}). Take fewer samples or fewer layers at a time.",
    "OutOfMemoryError": "The memory of the device ran out ({said}). Take smaller batches.",
    "RecursionError": "Something is nested too deep: a file, or calls of a network ({said}).",
    "UnicodeDecodeError": "{file} is not text in UTF-8 ({said}). Save it as UTF-8.",
    "Error": "{file} cannot be read as a table ({said}).",
    "BadZipFile": f"{{file}} {DAMAGED}",
    "EOFError": f"{{file}} {DAMAGED}",
    "SafetensorError": f"{{file}} {DAMAGED}",
    "error": f"{{file}} {DAMAGED}",
}
"""By the name of the class: to import the classes would take seconds. The second "error" is zlib's,
and the first is that of csv."""
OF_SYSTEM = {
    errno.ENOENT: "There is no {file}.",
    errno.EACCES: "{file} may not be read or written. Change its permissions, or choose another.",
    errno.EPERM: "{file} may not be changed. Change its permissions, or choose another place.",
    errno.EISDIR: "{file} is a folder, where a file is needed.",
    errno.ENOTDIR: "{file} is below a file, where a folder is needed.",
    errno.ENOSPC: "The disk is full: {file} cannot be written. Make room, and try again.",
    errno.EROFS: "{file} is on a disk that cannot be written to. Choose another place.",
}
EXTRAS = {
    "torch": "torch",
    "PIL": "torch",
    "transformers": "hf",
    "pyarrow": "parquet",
    "onnx": "onnx",
    "onnxscript": "onnx",
    "onnxruntime": "onnx",
    "dask": "dask",
    "distributed": "dask",
    "starlette": "review",
    "uvicorn": "review",
}
"""The extra that brings a package."""


def explain(error: BaseException) -> str:
    """What to tell the user, in one line."""
    said = _one_line(_words(error))
    where = _place_of_user(error)
    return f"{said.rstrip('.')} ({where})." if where and where not in said else said


def _words(error: BaseException) -> str:
    from_worker = _last_line_of_worker(error)
    if from_worker is not None:
        return from_worker
    if isinstance(error, SystemExit):
        return "A module that was imported has ended the program. It must not call exit()"
    if isinstance(error, ModuleNotFoundError) and (error.name or "").split(".")[0] in EXTRAS:
        extra = EXTRAS[(error.name or "").split(".")[0]]
        return f'{error}. Install it with: pip install "rehead[{extra}]"'
    if isinstance(error, OURS) and _is_ours(error):
        return str(error)
    return _of_system(error) or _of_known(error) or _unexpected(error)


def _of_system(error: BaseException) -> str:
    """What an operating system's refusal means."""
    if not isinstance(error, OSError) or error.errno not in OF_SYSTEM:
        return ""
    return OF_SYSTEM[error.errno].format(file=error.filename or "a file")


def _of_known(error: BaseException) -> str:
    """What a kind of error means that libraries raise."""
    known = [KNOWN[c.__name__] for c in type(error).__mro__ if c.__name__ in KNOWN]
    if not known and isinstance(error, RuntimeError) and "can't allocate memory" in str(error):
        known = [KNOWN["MemoryError"]]
    if not known:
        return ""
    said = _one_line(str(error)).rstrip(".") or type(error).__name__
    return known[0].format(said=said, file=_file_of(error) or "A file")


def _unexpected(error: BaseException) -> str:
    """An error that nobody foresaw: its kind, its words, and how to see more."""
    kind, said = type(error).__name__, str(error).strip()
    if isinstance(error, OURS) and said:
        file = _file_of(error)
        return f"{file}: {said}" if file else said
    text = f"{kind}: {said}" if said else kind
    if isinstance(error, SyntaxError) or _place_of_user(error):
        return text
    return f"{text.rstrip('.')}. {SEE_MORE}"


def _one_line(text: str) -> str:
    line = " ".join(text.split())
    if len(line) <= LONGEST:
        return line
    return f"{line[:LONGEST].rstrip()} ... `rehead --traceback ...` shows it all."


def _causes(error: BaseException) -> Iterator[BaseException]:
    """The error, then what it came from."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        hidden = error.__suppress_context__
        error = error.__cause__ or (None if hidden else error.__context__)  # type: ignore[assignment]


def _frames(error: BaseException) -> list[tuple[FrameType, int]]:
    """Frames and their lines, the deepest last."""
    return list(traceback.walk_tb(error.__traceback__))


def _is_ours(error: BaseException) -> bool:
    """Whether a line of rehead raised it, and so chose its words."""
    frames = _frames(error)
    return bool(frames) and _is_below(frames[-1][0].f_code.co_filename, _package())


def _package() -> Path:
    return Path(rehead.__file__).parent


def _is_below(file: str, *folders: Path) -> bool:
    return any(Path(file).is_relative_to(folder) for folder in folders)


def is_of_user(file: str) -> bool:
    """Whether a file of source is neither rehead's, nor Python's, nor that of a library."""
    paths = sysconfig.get_paths()
    libraries = [paths["stdlib"], paths["platstdlib"], paths["purelib"], paths["platlib"]]
    libraries += [*site.getsitepackages(), site.getusersitepackages(), f"{sys.prefix}/bin"]
    return Path(file).is_file() and not _is_below(file, _package(), *map(Path, libraries))


def _place_of_user(error: BaseException) -> str:
    """The deepest line of the user's own modules that took part, if any did."""
    for cause in _causes(error):
        lines = [(frame.f_code.co_filename, line) for frame, line in _frames(cause)]
        lines += [(file, int(n)) for file, n in re.findall(r'File "(.+?)", line (\d+)', str(cause))]
        mine = [(file, line) for file, line in lines if is_of_user(file)]
        if mine:
            file, line = mine[-1]
            return f"{_short(file)}, line {line}"
    return ""


def _short(file: str) -> str:
    """A path as short as it can be from here."""
    path = Path(file)
    here = Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else file


def _last_line_of_worker(error: BaseException) -> str | None:
    """What went wrong in another process, which tells it as the text of a traceback."""
    lines = [line for line in str(error).splitlines() if line.strip()]
    return lines[-1].strip() if "Traceback (most recent call last)" in str(error) else None


def _file_of(error: BaseException) -> str:
    """The file that rehead was reading: errors of its parsers do not name it."""
    ours = [f for f, _ in _frames(error) if _is_below(f.f_code.co_filename, _package())]
    # The deepest frame only: those above it know files that have nothing to do with the error.
    values = ours[-1].f_locals.values() if ours else ()
    paths = [value for value in values if isinstance(value, Path) and value.is_file()]
    return _short(str(paths[0])) if paths else ""
