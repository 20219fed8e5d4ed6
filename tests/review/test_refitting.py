"""A head that knows of the decisions."""

import numpy as np
import pytest

from rehead import LayerEnsemble, score_labels
from rehead.review.corrected import corrected_labels
from rehead.review.draws import Shown
from rehead.review.refitting import gain_of, refit
from rehead.review.subject import Subject


def test_a_refit_takes_decisions_as_trusted_and_shows_what_it_gained(made, desk, decide):
    _, truth, _, _ = made()
    for row in desk.subject.suspects[:20].tolist():
        decide(desk, "suggestion", shown=Shown(row, "suspect"))
    decide(desk, "out of scope", shown=Shown(int(desk.subject.suspects[20]), "suspect"))
    corrected = corrected_labels(desk.report, desk.standings)
    found = refit(desk.subject, corrected)
    gain = gain_of(desk.subject, corrected, found, truth)
    assert gain.relabelled == 20
    assert gain.out_of_scope == 1
    assert gain.suspects[1] < gain.suspects[0]
    assert gain.noise[1] < gain.noise[0]
    assert gain.right_labels[1] > gain.right_labels[0]
    assert gain.accuracy[1] >= gain.accuracy[0] - 0.01
    for part in ("20 labels corrected", "Estimated wrong labels", "Accuracy"):
        assert part in str(gain)
    assert found.model.get_params() == desk.subject.model.get_params()


def test_only_a_fair_sample_of_the_draws_counts_as_random(desk, decide):
    suspects = desk.subject.suspects.tolist()
    others = np.setdiff1d(np.arange(len(desk.report)), suspects).tolist()
    for row in suspects[:5]:
        decide(desk, "suggestion", shown=Shown(row, "suspect"))
    for row in suspects[5:15]:
        decide(desk, "suggestion", shown=Shown(row, "random suspect", 0.5))
    for row in others[:10]:
        decide(desk, "keep", shown=Shown(row, "random other", 0.1))
    words = desk.corrected().checked
    assert (words[suspects[:5]] == "chosen").all()
    assert (words[others[:10]] == "random").sum() in (9, 10)  # rounded down
    fair = int(10 / len(others) * len(suspects))
    assert fair < 10
    assert words[suspects[5:15]].tolist() == ["random"] * fair + ["chosen"] * (10 - fair)
    assert (words != "").sum() == 25


def test_without_draws_nothing_is_random(desk, decide):
    decide(desk, "suggestion", shown=Shown(int(desk.subject.suspects[0]), "suspect"))
    words = desk.corrected().checked
    assert sorted(set(words.tolist())) == ["", "chosen"]


def test_layers_are_fitted_with_held_out_samples(made, tmp_path):
    X, _, noisy, _ = made(500)
    layers = {"a": X, "b": X[:, :2]}
    pick = {name: F[:400] for name, F in layers.items()}
    held = {name: F[400:] for name, F in layers.items()}
    head = LayerEnsemble(random_state=0).fit(pick, noisy[:400], validation=(held, noisy[400:]))
    head.inputs_.network = "a network"
    report = score_labels(head, pick, noisy[:400])
    subject = Subject(report, pick, None, "h", tmp_path)
    from rehead.review.desk import Desk

    desk = Desk(subject, tmp_path / "d.sqlite")
    found = refit(subject, desk.corrected(), (held, noisy[400:]))
    assert isinstance(found.model, LayerEnsemble)
    assert found.model.inputs_.network == "a network"
    assert len(found.report) == 400
    desk.close()


def test_a_class_without_samples_is_an_error_that_says_so(desk, decide):
    last = np.flatnonzero(desk.given == desk.report.classes[0]).tolist()
    for row in last:
        decide(desk, "out of scope", shown=Shown(row, "suspect"))
    with pytest.raises(ValueError, match="no samples left"):
        refit(desk.subject, desk.corrected())
