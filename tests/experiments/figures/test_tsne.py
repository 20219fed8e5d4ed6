"""Figure 1b."""

import numpy as np
import pytest
from sklearn.neighbors import NearestNeighbors

from rehead.experiments.figures import tsne
from rehead.experiments.figures.cells import NothingToDrawError, uniform_cells


def cell_of(request):
    return next(c for c in uniform_cells(request, "densenet100") if c.rate == 0.2)


def test_labels_and_places_of_training_samples(request_of, put_features):
    request = request_of([])
    arrays = put_features(request.cache, cell_of(request))
    content = tsne.collect(request)
    assert content["label"] == arrays["train/y"].tolist()
    assert content["wrong"] == arrays["changed"].astype(int).tolist()
    assert len(content["x"]) == len(content["y"]) == 60
    assert content["layer"] == "last"
    assert content["class_names"] == list("0123456789")
    assert f"{int(arrays['changed'].sum())} have a wrong label" in content["caption"]
    assert tsne.collect(request) == content


def test_some_samples_of_many(request_of, put_features, monkeypatch):
    monkeypatch.setattr(tsne, "MOST", 25)
    request = request_of([])
    arrays = put_features(request.cache, cell_of(request))
    content = tsne.collect(request)
    assert len(content["x"]) == len(content["label"]) == len(content["wrong"]) == 25
    # The same rows for all of them: no label is wrong that is the true one.
    pairs = set(
        zip(arrays["train/y"].tolist(), arrays["changed"].astype(int).tolist(), strict=True)
    )
    assert set(zip(content["label"], content["wrong"], strict=True)) <= pairs


def test_neighbours_stay_neighbours():
    rng = np.random.default_rng(0)
    centres = 20 * rng.normal(size=(3, 5))
    group = np.arange(90) % 3
    places = tsne.embed(centres[group] + rng.normal(size=(90, 5)))
    near = NearestNeighbors(n_neighbors=5).fit(places).kneighbors(return_distance=False)
    assert (group[near] == group[:, None]).mean() > 0.98
    np.testing.assert_array_equal(places, places.round(2))


def test_nothing_is_trained_for_it(request_of):
    with pytest.raises(NothingToDrawError, match="densenet100-uniform20"):
        tsne.collect(request_of([]))


def test_points_show_the_content(request_of, put_features, canvas):
    request = request_of([])
    put_features(request.cache, cell_of(request))
    content = tsne.collect(request)
    tsne.draw(content, canvas)
    drawn = {line.get_label(): line.get_xydata() for line in canvas.axes[0].lines}
    assert list(drawn) == [*"0123456789", "wrong label"]
    places = np.stack([content["x"], content["y"]], axis=1)
    np.testing.assert_array_equal(drawn["wrong label"], places[np.array(content["wrong"]) == 1])
    np.testing.assert_array_equal(drawn["3"], places[np.array(content["label"]) == 3])
    looks = {(line.get_color(), line.get_marker()) for line in canvas.axes[0].lines[:-1]}
    assert len(looks) == 10
