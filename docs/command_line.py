"""Writes ``reference/command-line.md`` from the commands themselves; ``make docs`` runs it.

python docs/command_line.py
"""

from pathlib import Path
from typing import Any

import typer

from rehead.cli import app

PAGE = Path(__file__).parent / "reference" / "command-line.md"
INTRODUCTION = """# Command line

`python docs/command_line.py` writes this page from the commands themselves. `rehead --help` and
`rehead COMMAND --help` say the same in the terminal. How the commands work together:
[Work with files](../how-to/command-line.md). What the files hold: [Files](files.md).

An error is one line on stderr and exit code 1; one in a module of your own names its file and line.
`rehead --traceback COMMAND`, or the environment variable `REHEAD_TRACEBACK=1`, shows where it comes
from. A warning is one line on stderr. An interrupted command ends with code 130. No command writes
over a file that it reads.
"""


def page() -> str:
    """The whole page."""
    group: Any = typer.main.get_command(app)
    commands = group.commands
    table = ["| command | what it does |", "| --- | --- |"]
    for name, command in commands.items():
        summary = command.help.split("\n\n")[0]
        table.append(f"| [`rehead {name}`](#rehead-{name}) | {summary} |")
    return "\n".join([INTRODUCTION, *table, "", *map(_card, commands.items())])


def _card(named: tuple[str, Any]) -> str:
    """One command: how it is called, and a row for each argument and option."""
    name, command = named
    arguments = [p for p in command.params if p.param_type_name == "argument"]
    needed = [p for p in command.params if p not in arguments and p.required]
    call = ["rehead", name, *(p.name.upper() for p in arguments)]
    call += [f"{p.opts[0]} {p.name.upper()}" for p in needed]
    rows = [f"| {_name(p)} | {_default(p)} | {_cell(p.help)} |" for p in command.params]
    usage = ["```console", f"$ {' '.join(call)} [OPTIONS]", "```", ""]
    table = ["| | default | |", "| --- | --- | --- |", *rows, ""]
    return "\n".join([f"## rehead {name}", "", command.help, "", *usage, *table])


def _name(parameter: Any) -> str:
    argument = parameter.param_type_name == "argument"
    return ", ".join(f"`{name.upper() if argument else name}`" for name in parameter.opts)


def _default(parameter: Any) -> str:
    if parameter.required:
        return "needed"
    if isinstance(parameter.show_default, str):
        return parameter.show_default
    unset = parameter.default is None or parameter.default is False
    return "" if unset else f"`{parameter.default}`"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
