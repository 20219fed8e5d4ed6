"""The program itself: what all commands share."""

from __future__ import annotations

import functools
import traceback as tracebacks
import warnings
from collections.abc import Callable
from contextvars import ContextVar
from typing import Annotated, Any

import typer

from rehead.cli.errors import explain
from rehead.cli.terminal import patient_output

INTERRUPTED = 130
"""Exit code of a command that was interrupted, as shells have it."""
RESUMED = ("train", "clean", "features", "reproduce")
"""Commands that go on where they stopped."""
OPTIONS = {
    "validation=(layers, labels)": "--validation FEATURES",
    "weights='equal'": "--weights equal",
    "class_names=:": "--class-names:",
    "class_names=.": "--class-names.",
}
"""What arguments that messages name are called on the command line."""
_TRACEBACK: ContextVar[bool] = ContextVar("traceback", default=False)

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    help="Give a network trained on noisy labels a new head.",
    pretty_exceptions_enable=False,
)


def friendly(command: Callable[..., None]) -> Callable[..., None]:
    """Show any error as one line, not as a traceback, unless that was asked for."""

    @functools.wraps(command)
    def run(*args: Any, **kwargs: Any) -> None:
        try:
            with warnings.catch_warnings(), patient_output():
                warnings.showwarning = _show_warning
                command(*args, **kwargs)
        except KeyboardInterrupt as error:
            more = (
                " The same command continues from what is finished."
                if command.__name__ in RESUMED
                else ""
            )
            _end(error, f"Interrupted.{more}", INTERRUPTED)
        except (typer.Exit, typer.Abort, typer.BadParameter):
            raise  # the program's own ways to end, and to refuse what was typed
        except (Exception, SystemExit) as error:
            _end(error, f"Error: {explain(error)}", 1)

    return run


def _end(error: BaseException, said: str, code: int) -> None:
    if _TRACEBACK.get():
        typer.echo("".join(tracebacks.format_exception(error)), err=True, nl=False)
    typer.echo(_in_words_of_commands(said), err=True)
    raise typer.Exit(code) from error


def _show_warning(message: Warning | str, *where: Any, **more: Any) -> None:
    """A warning in one line; the line of the source that it comes from helps nobody here."""
    typer.echo(f"Warning: {_in_words_of_commands(' '.join(str(message).split()))}", err=True)


def _in_words_of_commands(said: str) -> str:
    """Arguments of Python as options; nothing in a name of the user's steers the terminal."""
    from rehead._values import visible

    for argument, option in OPTIONS.items():
        said = said.replace(argument, option)
    return visible(said)


def _version(show: bool) -> None:
    if show:
        from rehead import __version__

        typer.echo(f"rehead {__version__}")
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
    traceback: Annotated[
        bool,
        typer.Option(
            "--traceback",
            envvar="REHEAD_TRACEBACK",
            help="Show where in the source an error comes from.",
        ),
    ] = False,
) -> None:
    """Options that all commands share."""
    _TRACEBACK.set(traceback)
