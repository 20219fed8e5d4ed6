"""When, where and with what something was measured."""

from __future__ import annotations

import os
import platform
import subprocess
from datetime import UTC, datetime
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

PACKAGES = ("numpy", "scipy", "scikit-learn", "torch", "rehead")


def now() -> str:
    """The time, to the second, anywhere in the world the same."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def hardware() -> dict[str, Any]:
    """The processor, its cores, the system, and how busy it is."""
    return {
        "cpu": cpu(),
        "cores": os.cpu_count(),
        "platform": platform.platform(),
        "load": round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None,
    }


def versions() -> dict[str, str]:
    """Of Python and of the packages that results depend on."""
    found = {"python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


@lru_cache(maxsize=1)
def commit() -> str:
    """The commit of this package's source, with a + if it was changed since; "" elsewhere."""
    package = Path(__file__).parents[1]
    if not _git(package, "ls-files", f"{Path(__file__).relative_to(package)}"):
        return ""  # installed inside of another project's repository
    text = _git(package, "describe", "--always", "--abbrev=9", "--exclude=*")
    changed = text and _git(package, "status", "--porcelain", "--untracked-files=no", ".")
    return f"{text}+" if changed else text


def _git(folder: Path, *command: str) -> str:
    try:
        done = subprocess.run(["git", "-C", str(folder), *command], capture_output=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return ""
    return done.stdout.decode().strip()


def cpu() -> str:
    """The name of the processor."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()
