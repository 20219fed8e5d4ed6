"""The program itself: what all commands share."""

from __future__ import annotations

import functools
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
            command(*args, **kwargs)
        except (ValueError, TypeError, OSError, ImportError) as error:
            typer.echo(f"Error: {error}", err=True)
            raise typer.Exit(1) from error

    return run


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
