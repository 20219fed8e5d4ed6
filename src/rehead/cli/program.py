"""The program itself: what all commands share."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Annotated, Any

import typer

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    help="Give a network trained on noisy labels a new head.",
    pretty_exceptions_show_locals=False,
)


def friendly(command: Callable[..., None]) -> Callable[..., None]:
    """Show what the user can mend as one line, not as a traceback."""

    @functools.wraps(command)
    def run(*args: Any, **kwargs: Any) -> None:
        try:
            with warnings.catch_warnings():
                warnings.showwarning = _show_warning
                command(*args, **kwargs)
        except (ValueError, TypeError, OSError, ImportError) as error:
            typer.echo(f"Error: {error}", err=True)
            raise typer.Exit(1) from error

    return run


def _show_warning(message: Warning | str, *where: Any, **more: Any) -> None:
    """A warning in one line; the line of the source that it comes from helps nobody here."""
    typer.echo(f"Warning: {message}", err=True)


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
) -> None:
    """Options that all commands share."""
