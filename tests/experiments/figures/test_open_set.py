"""Figures 3b and 4."""

import dataclasses

import numpy as np
import pytest

from rehead import data
from rehead.experiments.figures import open_set
from rehead.experiments.figures.cells import NothingToDrawError
from rehead.experiments.noisy import noisy_task
from rehead.experiments.profiles import settings_of
from rehead.experiments.tables import table_cells

(CELL,) = table_cells("7", "tiny", data="digits")


def as_rows(images):
    return {image.tobytes() for image in images}


def test_images_under_one_label(request_of):
    content = open_set.collect_3b(request_of([CELL], columns=()))
    (panel,) = content["panels"]
    assert panel["label"] == "2"
    assert len(panel["rows"]) == len(set(panel["rows"])) == 20
    task = noisy_task(settings_of(CELL))
    assert (task.labels[panel["rows"]] == 2).all()
    assert sum(panel["replaced"]) == 12  # 60 %
    assert panel["replaced"] == task.changed[panel["rows"]].astype(int).tolist()


def test_the_marked_images_are_from_elsewhere(request_of):
    content = open_set.collect_4(request_of([CELL], columns=()))
    assert [p["label"] for p in content["panels"]] == list("0123456789")
    images = open_set.images_of(content)
    replaced = np.concatenate([p["replaced"] for p in content["panels"]]).astype(bool)
    assert 0.4 < replaced.mean() < 0.8
    assert as_rows(images[replaced]) <= as_rows(data.scribbles().X)
    whole = data.load("digits32", random_state=CELL.seed)
    assert as_rows(images[~replaced]) <= as_rows(whole.train.X)


def test_no_open_set_cell_ran(request_of):
    with pytest.raises(NothingToDrawError, match="Run table 7"):
        open_set.collect_3b(request_of([]))


def test_the_cell_with_most_sources_is_shown(request_of, monkeypatch):
    asked = []
    task = noisy_task(settings_of(CELL))
    monkeypatch.setattr(open_set, "noisy_task", lambda s: asked.append(s.outside) or task)
    cells = [c for c in table_cells("7", "quick") if c.source != "imagenet32"]
    content = open_set.collect_3b(request_of(cells, "quick", None, columns=()))
    assert asked == [("cifar100", "imagenet32")]
    assert "from CIFAR-100 and ImageNet 32." in content["caption"]
    assert [name.split("-")[5] for name in content["not_run"]] == ["imagenet32"]


def test_other_images_than_were_collected_are_refused(request_of, canvas):
    content = open_set.collect_3b(request_of([CELL], columns=()))
    other = dataclasses.replace(CELL, seed=1)
    with pytest.raises(ValueError, match="Collect it again"):
        open_set.draw({**content, "cell": other.to_json()}, canvas)


def test_a_mosaic_has_each_image_in_its_place():
    images = np.arange(5 * 3 * 2 * 2, dtype=np.uint8).reshape(5, 3, 2, 2)
    sheet = open_set.mosaic(images, (2, 3))
    side, b = 2 + 2 * open_set.BORDER, open_set.BORDER
    assert sheet.shape == (2 * side, 3 * side, 3)
    for i, image in enumerate(images):
        y, x = (i // 3) * side + b, (i % 3) * side + b
        np.testing.assert_array_equal(sheet[y : y + 2, x : x + 2].transpose(2, 0, 1), image)
    assert (sheet[side + b :, 2 * side :] == 255).all()  # no sixth image


def test_frames_are_around_the_replaced_images(request_of, canvas):
    content = open_set.collect_3b(request_of([CELL], columns=()))
    open_set.draw(content, canvas)
    (axes,) = canvas.axes
    images = open_set.images_of(content)
    shown = np.asarray(axes.images[0].get_array())
    np.testing.assert_array_equal(shown, open_set.mosaic(images, open_set.GRID_3B))
    replaced = np.flatnonzero(content["panels"][0]["replaced"])
    assert len(axes.patches) == len(replaced)
    side = 32 + 2 * open_set.BORDER
    for frame, i in zip(axes.patches, replaced, strict=True):
        corner = np.array([i % 5, i // 5]) * side
        low = np.array(frame.get_xy()) - corner
        assert (low > -0.5).all()
        assert (low < open_set.BORDER - 0.5).all()
        assert frame.get_width() > 32
