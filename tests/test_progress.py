"""A progress bar where someone is looking, and nothing where nobody is."""

import pytest

from rehead._progress import progress_bar


@pytest.mark.parametrize("show", [False, None])  # None: no terminal here
def test_nothing_is_written_where_nobody_looks(show, capsys):
    with progress_bar("features", 10, show=show) as advance:
        advance(5)
        advance(5, "almost")
    assert capsys.readouterr() == ("", "")


def test_it_counts_what_it_is_told(capsys):
    with progress_bar("features", 12, show=True) as advance:
        advance(5)
        advance(7, "labels")
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "labels" in shown.err
    assert "12/12" in shown.err
