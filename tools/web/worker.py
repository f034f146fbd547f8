"""The process that reads pages: a frame in, a frame out, until its input ends.

A frame is two big-endian lengths, JSON of the first length, and bytes of the second. What comes back is JSON
only: nothing that a hostile page made of this process is ever executed by the one that asked.
"""

import contextlib
import json
import os
import signal
import struct
import sys
from typing import Any, BinaryIO, Final

HEADER: Final = struct.Struct(">II")
MEMORY: Final = 2_000_000_000
"""Bytes of address space a reader may take."""


def write_frame(stream: BinaryIO, value: dict[str, Any], content: bytes = b"") -> None:
    """Send one frame."""
    text = json.dumps(value).encode("ascii")
    stream.write(HEADER.pack(len(text), len(content)) + text + content)
    stream.flush()


def read_frame(stream: BinaryIO, most: int) -> tuple[Any, bytes] | None:
    """The next frame, None at the end. Raises ValueError for one of more than `most` bytes, or cut short."""
    header = stream.read(HEADER.size)
    if not header:
        return None
    if len(header) < HEADER.size:
        raise ValueError("a frame was cut short")
    text, content = HEADER.unpack(header)
    if text + content > most:
        raise ValueError(f"a frame of {text + content:,} bytes is too long")
    whole = stream.read(text + content)
    if len(whole) < text + content:
        raise ValueError("a frame was cut short")
    return json.loads(whole[:text]), whole[text:]


def _limit_memory() -> None:
    if sys.platform != "win32":
        import resource  # noqa: PLC0415  not on Windows

        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def _expire(seconds: int) -> None:
    """Die after so long, even inside a parser and even if nobody is left to kill us. 0 takes it back."""
    if sys.platform != "win32":
        signal.alarm(seconds)


def main() -> None:
    """Read pages from stdin until it ends."""
    # The real output is ours alone: whatever a library prints must not pass for a frame.
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    _limit_memory()
    from .reading import Unreadable, read  # noqa: PLC0415  takes a second, after the output is safe

    write_frame(out, {"ready": True})
    while (frame := read_frame(sys.stdin.buffer, sys.maxsize)) is not None:
        asked, content = frame
        _expire(asked["seconds"])
        try:
            reading = read(asked["kind"], content, asked["charset"], asked["url"], asked["limit"])
            write_frame(out, {"reading": reading})
        except Unreadable as error:
            write_frame(out, {"error": str(error)})
        except (Exception, MemoryError, RecursionError) as error:
            write_frame(out, {"error": f"its reader failed: {type(error).__name__}"})
        _expire(0)


if __name__ == "__main__":
    main()
