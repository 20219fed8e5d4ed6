"""One small run, shared."""

import pytest

from rehead.experiments.theory import TheoremSettings, run_theorem


@pytest.fixture(scope="session")
def tiny():
    """A result; copy it before changing it."""
    return run_theorem(TheoremSettings.tiny())
