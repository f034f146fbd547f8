"""The command `sufficit`: one typer application a group of commands, one place for errors and exit codes.

Exit codes: 0 answered or done, 1 failed, 2 wrong use or settings, 3 abstained, 130 interrupted.
"""

import os
import sys

import typer

from ..tools.errors import SufficitError, UsageError
from . import environment  # noqa: F401  first: what it sets is read when a library is loaded
from .__main__ import INTERRUPTED
from .commands import (
    arbitrate,
    ask,
    calibrate,
    calibrate_arbiter,
    contrasts,
    eval_cache,
    eval_run,
    evaluate,
    fit,
    gate,
    index,
    models,
    monitor,
    replay,
    serve,
    settings,
    train_reader,
    trustmargin,
)
from .console import complain
from .extras import extra_with

app = typer.Typer(
    name="sufficit",
    help="Answer questions from a corpus, and know when the evidence does not suffice.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.command("ask")(ask.ask)
app.command("serve")(serve.serve)
app.command("replay")(replay.replay)
app.command("monitor")(monitor.monitor)
app.command("tune-threshold")(evaluate.tune_threshold)
app.command("settings")(settings.settings)
app.command("fit")(fit.fit)
app.command("calibrate")(calibrate.calibrate)
app.command("calibrate-arbiter")(calibrate_arbiter.calibrate_arbiter)
app.command("gate")(gate.gate)
app.command("train-reader")(train_reader.train_reader)
app.add_typer(index.app, name="index")
app.add_typer(models.app, name="models")
app.add_typer(contrasts.app, name="contrasts")
evaluate.app.add_typer(eval_cache.app)
evaluate.app.command("trustmargin")(trustmargin.eval_trustmargin)
evaluate.app.command("run")(eval_run.run)
app.add_typer(evaluate.app, name="eval")
app.add_typer(arbitrate.app, name="arbitrate")


def main() -> None:
    """Run the command line; every error that can be foreseen becomes one or two lines and its exit code."""
    try:
        app()
    except SufficitError as error:
        complain(str(error))
        sys.exit(error.exit_code)
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("sufficit"):
            raise
        extra = extra_with(error.name or "")
        advice = f"pip install 'sufficit[{extra}]'" if extra else f"pip install {error.name}"
        complain(f"this needs the package {error.name}, which is not installed\nInstall it: {advice}")
        sys.exit(UsageError.exit_code)
    except OSError as error:
        complain(f"{error.strerror or error}: {error.filename or 'the output'}")
        # What could not be written is still buffered, and would fail once more at exit.
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115, PTH123
        sys.exit(1)
    except SystemExit as stop:
        if stop.code == INTERRUPTED:
            complain("interrupted; what was written is whole")
        raise
