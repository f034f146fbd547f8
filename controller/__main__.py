"""Where a process of `sufficit` begins: nothing is imported that an interruption could not be told of."""

import sys

INTERRUPTED = 130


def main() -> None:
    """The command line, from its first import on; an interruption is one line and exit code 130."""
    try:
        from .cli import main as run  # noqa: PLC0415  the imports take long enough to be interrupted

        run()
    except KeyboardInterrupt:
        print("error: interrupted", file=sys.stderr)
        sys.exit(INTERRUPTED)


if __name__ == "__main__":
    main()
