"""Figure 3a."""

import numpy as np
import pytest
from sklearn.metrics import confusion_matrix

from rehead.experiments.figures import confusion
from rehead.experiments.figures.cells import NothingToDrawError
from rehead.experiments.tables import table_cells


def cells(labeller="resnet34"):
    return [c for c in table_cells("6", "tiny", data="digits") if c.labeller == labeller]


def test_counts_of_true_classes_and_labels(request_of, put_features):
    request = request_of([])
    put_features(request.cache, cells("vgg13")[0], seed=1)
    arrays = put_features(request.cache, cells()[0])
    content = confusion.collect(request)
    right = confusion_matrix(arrays["truth"], arrays["train/y"])
    np.testing.assert_array_equal(content["counts"], right)
    assert content["class_names"] == list("0123456789")
    assert f"{arrays['changed'].mean():.0%} of the labels are wrong" in content["caption"]


def test_any_method_has_the_labels(request_of, put_features):
    request = request_of([])
    other = next(c for c in cells() if c.method != "cross-entropy")
    put_features(request.cache, other)
    assert np.sum(confusion.collect(request)["counts"]) == 60


def test_no_labeller_in_the_cache(request_of):
    with pytest.raises(NothingToDrawError, match="Run table 6"):
        confusion.collect(request_of([]))


def test_what_differs_from_the_papers_labeller(request_of, put_features):
    request = request_of([])
    put_features(request.cache, cells()[0])
    assert "resnet34 (of small size)" in confusion.collect(request)["caption"]


COUNTS = [[80, 15, 5, 0], [2, 97, 1, 0], [0, 0, 50, 0], [4, 0, 6, 90]]
CONTENT = {"class_names": list("abcd"), "counts": COUNTS, "labeller": "resnet34", "data": "x"}


def test_arrows_lead_to_what_a_class_is_mistaken_for(canvas):
    confusion.draw(CONTENT, canvas)
    arrows = {patch.get_gid(): patch for patch in canvas.axes[0].patches}
    # The first mistake of each class, whatever its share, and others from 5 % on.
    assert set(arrows) == {"a-as-b", "a-as-c", "b-as-a", "d-as-c"}
    widths = {name: arrow.get_linewidth() for name, arrow in arrows.items()}
    assert widths["a-as-b"] == pytest.approx(3 * widths["a-as-c"])
    assert arrows["a-as-b"].get_edgecolor() == arrows["d-as-c"].get_edgecolor()
    assert arrows["a-as-b"].get_edgecolor() != arrows["a-as-c"].get_edgecolor()


def test_arrows_begin_and_end_at_their_classes(canvas):
    confusion.draw(CONTENT, canvas)
    axes = canvas.axes[0]
    places = dict(zip("abcd", axes.lines[0].get_xydata(), strict=True))
    np.testing.assert_allclose(np.linalg.norm(list(places.values()), axis=1), 1)
    for arrow in axes.patches:
        start, _, end = arrow.get_gid().split("-")
        path = arrow.get_path().vertices
        assert np.linalg.norm(path[0] - places[start]) < 0.15
        nearest = {n: np.linalg.norm(path[1:] - p, axis=1).min() for n, p in places.items()}
        assert nearest[end] < 0.15


def test_names_say_the_first_mistake(canvas):
    confusion.draw(CONTENT, canvas)
    texts = [t.get_text() for t in canvas.axes[0].texts]
    assert texts == ["a", "→ b (15%)", "b", "→ a (2%)", "c", "", "d", "→ c (6%)"]
