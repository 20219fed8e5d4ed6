"""The command line. Each command calls one public function; heavy imports wait until it runs."""

from rehead.cli.program import app

# isort: off
# `rehead --help` lists commands in the order of these lines, which is the order of the work.
from rehead.cli import demo  # noqa: F401
from rehead.cli import corrupt  # noqa: F401
from rehead.cli import train  # noqa: F401
from rehead.cli import clean  # noqa: F401
from rehead.cli import features  # noqa: F401
from rehead.cli import stores  # noqa: F401
from rehead.cli import head  # noqa: F401
from rehead.cli import audit  # noqa: F401
from rehead.cli import report  # noqa: F401
from rehead.cli import review  # noqa: F401
from rehead.cli import reproduce  # noqa: F401

__all__ = ["app"]
