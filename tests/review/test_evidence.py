"""What speaks for a label."""

import numpy as np
import pytest

from rehead import LayerEnsemble, score_labels
from rehead.review.evidence import Evidence
from rehead.review.subject import Subject


@pytest.fixture(scope="module")
def layered(made, tmp_path_factory):
    X, _, noisy, _ = made(400)
    layers = {"first": X, "second": X[:, :2]}
    head = LayerEnsemble("anchored", weights="equal").fit(layers, noisy)
    return Subject(
        score_labels(head, layers, noisy), layers, None, "h", tmp_path_factory.mktemp("x")
    )


def test_the_other_label_is_the_suggestion_or_the_next_best(subject):
    evidence, report = Evidence(subject), subject.report
    row = int(subject.suspects[0])
    best, _ = evidence.other_label(row, evidence.given[row])
    assert report.classes[best] == report.suggested[row]
    good = int(report.order[-1])
    code, probability = evidence.other_label(good, evidence.given[good])
    assert report.classes[code] != report.given[good]
    assert probability < 0.5


def test_the_probability_of_a_label_is_its_quality_or_what_the_model_says(subject):
    evidence, report = Evidence(subject), subject.report
    row = int(subject.suspects[0])
    given, best = int(evidence.given[row]), int(evidence.suggested[row])
    assert evidence.given_probability(row, given) == report.quality[row]
    assert evidence.given_probability(row, best) > 0.5


def test_neighbours_are_trusted_of_the_class_and_nearest_first(subject):
    evidence, report = Evidence(subject), subject.report
    row = int(subject.suspects[0])
    code = evidence.other_label(row, evidence.given[row])[0]
    (near,) = evidence.neighbours(row, [code], 4)
    assert len(near) == 4
    assert (report.given[[n.row for n in near]] == report.classes[code]).all()
    assert (report.quality[[n.row for n in near]] >= 0.9).all()
    assert np.all(np.diff([n.distance for n in near]) >= 0)


def test_a_sample_is_not_its_own_neighbour(subject):
    evidence, report = Evidence(subject), subject.report
    good = int(report.order[-1])
    code = int(np.searchsorted(report.classes, report.given[good]))
    assert good not in [n.row for n in evidence.neighbours(good, [code], 4)[0]]


def test_each_layer_has_an_opinion(layered):
    evidence = Evidence(layered)
    assert evidence.layers == ["first", "second"]
    said = evidence.opinions(int(layered.suspects[0]), 0, 1)
    assert [one.name for one in said] == ["first", "second"]
    assert all(0 <= one.given <= 1 and one.best_probability >= one.other for one in said)
    votes = evidence.votes()
    assert votes["first"].shape == (400,)


def test_a_model_without_layers_has_no_opinions_of_them(subject):
    assert Evidence(subject).layers == []
    assert Evidence(subject).opinions(0, 0, 1) == []
