"""A progress bar where someone is looking, and nothing where nobody is."""

import pytest

from rehead import _progress
from rehead._progress import plain_lines, progress_bar, step, steps


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


def test_a_log_gets_a_line_now_and_then_and_the_last_one(capsys, monkeypatch):
    now = [0.0]
    monkeypatch.setattr(_progress.time, "monotonic", lambda: now[0])
    with plain_lines(), progress_bar("train", 100) as advance:
        for epoch in range(13):
            now[0] = float(epoch)
            advance(7)
            advance(0, f"epoch {epoch}")
    shown = capsys.readouterr()
    assert shown == ("", "epoch 0\nepoch 5\nepoch 10\nepoch 12\n")
    with plain_lines(), progress_bar("train", 100, show=False) as advance:
        advance(0, "epoch 1")
    with progress_bar("train", 100) as advance:
        advance(0, "epoch 1")
    assert capsys.readouterr() == ("", "")


def test_steps_are_said_to_the_bar_that_is_open(capsys):
    step("nobody hears it")
    with steps("fit", show=True):
        step("first layer")
        step("second layer")
    step("nobody hears it")
    shown = capsys.readouterr().err
    assert "second layer" in shown
    assert "2/?" in shown
    assert "nobody" not in shown
