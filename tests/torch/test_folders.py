"""Images and texts as people keep them."""

import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from PIL import Image
from torch import nn

from rehead.torch import RobustHead, extract_features, image_folder, image_table, text_table
from rehead.torch.batches import read_loader
from rehead.torch.folders import plain_images


@pytest.fixture
def photos(tmp_path):
    """Images of two classes, of many sizes and modes, and files beside them."""
    rng = np.random.default_rng(0)
    for name, level in (("owl", 200), ("ant", 40)):
        (tmp_path / name / "more").mkdir(parents=True)
        for i in range(12):
            pixels = rng.normal(level, 20, size=(9 + i, 8, 3)).clip(0, 255).astype(np.uint8)
            image = Image.fromarray(pixels).convert(("RGB", "L", "RGBA", "P")[i % 4])
            folder = tmp_path / name / ("more" if i > 9 else ".")
            image.save(folder / f"{i:02d}.{('png', 'PNG', 'tiff')[i % 3]}")
    (tmp_path / "ant" / "notes.txt").write_text("no image")
    (tmp_path / "ant" / "._00.png").write_text("a mark that a system left")
    (tmp_path / ".cache").mkdir()
    (tmp_path / ".cache" / "x.png").write_text("no image")
    return tmp_path


def all_of(loader):
    batches = list(read_loader(loader))
    labels = None if batches[0].labels is None else np.concatenate([b.labels for b in batches])
    ids = np.concatenate([b.ids for b in batches])
    return torch.cat([b.args[0] for b in batches]), labels, ids


def test_class_folders_are_labels_and_paths_are_ids(photos):
    images, labels, ids = all_of(image_folder(photos, size=6, batch_size=5))
    assert images.shape == (24, 3, 6, 6)
    assert images.dtype == torch.float32
    assert 0 <= images.min() < images.max() <= 1
    assert labels.tolist() == ["ant"] * 12 + ["owl"] * 12
    assert ids[:2].tolist() == ["ant/00.png", "ant/01.PNG"]
    assert "owl/more/11.tiff" in ids
    assert images[:12].mean() < 0.3 < 0.6 < images[12:].mean()


def test_a_head_from_a_folder(photos, tmp_path):
    torch.manual_seed(0)
    net = nn.Sequential(nn.Flatten(), nn.Linear(108, 6), nn.ReLU(), nn.Linear(6, 2))
    loader = image_folder(photos, size=6)
    head = RobustHead(net, layers=["1"], estimator="sample", shrinkage=0.5).fit(loader)
    assert head.predict(loader).tolist() == ["ant"] * 12 + ["owl"] * 12
    stored = extract_features(net, loader, ["1"], store=tmp_path / "store")
    assert stored.labels.tolist() == ["ant"] * 12 + ["owl"] * 12
    assert stored.ids[0] == "ant/00.png"


def test_images_are_read_when_they_are_asked_for(photos):
    (photos / "owl" / "05.tiff").write_bytes(b"II*\0 and nothing more")
    whole = (photos / "owl" / "00.png").read_bytes()
    (photos / "owl" / "00.png").write_bytes(whole[: len(whole) // 2])
    loader = image_folder(photos, size=6, batch_size=12)
    batches = iter(loader)
    next(batches)
    with pytest.raises(ValueError, match=r"Cannot read the image .*owl/00.png: .*leave it out"):
        next(batches)
    with pytest.raises(ValueError, match=r"Cannot read the image .*owl/05.tiff"):
        loader.dataset[17]


def test_images_without_class_folders_have_no_labels(photos):
    images, labels, ids = all_of(image_folder(photos / "ant" / "more", size=4))
    assert (len(images), labels) == (2, None)
    assert ids.tolist() == ["10.PNG", "11.tiff"]
    Image.new("RGB", (3, 3)).save(photos / "loose.png")
    with pytest.raises(ValueError, match=r"in class folders and beside them \(loose.png first\)"):
        image_folder(photos)


def test_folders_that_hold_nothing(tmp_path):
    with pytest.raises(ValueError, match="holds no images"):
        image_folder(tmp_path)
    with pytest.raises(FileNotFoundError, match="There is no folder"):
        image_folder(tmp_path / "none")


def test_parts_of_a_data_set_are_not_taken_for_classes(tmp_path):
    for part in ("train", "val"):
        for name in ("cat", "dog"):
            (tmp_path / part / name).mkdir(parents=True)
            Image.new("L", (8, 8)).save(tmp_path / part / name / "1.png")
    with pytest.raises(ValueError, match=r"same names \('cat', 'dog'\).* Pass one of them.*train"):
        image_folder(tmp_path)
    assert next(iter(image_folder(tmp_path / "val")))[1].tolist() == ["cat", "dog"]


def test_a_network_that_takes_other_images_says_what_they_must_be(photos):
    grey = nn.Sequential(nn.Conv2d(1, 4, 3), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4, 2))
    with pytest.raises(RuntimeError) as caught:
        RobustHead(grey).fit(image_folder(photos, size=16))
    note = " ".join(caught.value.__notes__)
    assert all(part in note for part in ("3, 16, 16", "transform=", "size="))


def test_a_transform_of_ones_own(photos):
    def bright(image):
        assert isinstance(image, Image.Image)
        return np.float32([np.asarray(image.convert("L")).mean()])

    images, *_ = all_of(image_folder(photos, bright))
    assert images.shape == (24, 1)
    with pytest.raises(TypeError, match="must give a tensor for an image, got PngImageFile"):
        next(iter(image_folder(photos, lambda image: image)))
    with pytest.raises(
        ValueError, match=r"different shapes: \(9, 8\) for ant/00.png, \(10, 8\) for"
    ):
        next(iter(image_folder(photos, lambda image: torch.ones(image.size[::-1]))))
    for size in (0, 2.5, "big"):
        with pytest.raises(ValueError, match="size must be a whole number"):
            plain_images(size)


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_table_of_paths(photos, ending):
    frame = pd.DataFrame(
        {"file": ["owl/00.png", "ant/01.PNG"], "kind": ["owl", "ant"], "name": ["07", "8"]}
    )
    table = photos / f"t.{ending}"
    if ending == "csv":
        frame.to_csv(table, index=False)
    else:
        frame.to_parquet(table)
    images, labels, ids = all_of(image_table(table, "file", "kind", size=4))
    assert images.shape == (2, 3, 4, 4)
    assert labels.tolist() == ["owl", "ant"]
    assert ids.tolist() == ["owl/00.png", "ant/01.PNG"]
    _, labels, ids = all_of(image_table(table, "file", ids="name"))
    assert labels is None
    assert ids.tolist() == ["07", "8"]


def test_a_path_that_leads_nowhere_is_named_with_its_line(photos):
    (photos / "t.csv").write_text("file\nowl/00.png\nowl/99.png\n")
    with pytest.raises(
        FileNotFoundError, match=r"Line 3 of .*t.csv: there is no file .*owl/99.png"
    ):
        image_table(photos / "t.csv", "file")
    with pytest.raises(FileNotFoundError, match="There is no file"):
        image_table(photos / "none.csv", "file")


def test_a_table_of_texts(tmp_path):
    (tmp_path / "t.csv").write_text('text,kind,name\n"Good, very",1,07\n12,0,8\n')

    def inputs(texts):
        return {"input_ids": torch.tensor([[len(text)] for text in texts])}

    (batch,) = read_loader(text_table(tmp_path / "t.csv", "text", inputs, "kind", "name"))
    assert batch.kwargs["input_ids"].tolist() == [[10], [2]]
    assert batch.labels.tolist() == [1, 0]
    assert batch.ids.tolist() == ["07", "8"]
    (batch,) = read_loader(text_table(tmp_path / "t.csv", "text", inputs))
    assert (batch.labels, batch.ids.tolist(), batch.numbered) == (None, [0, 1], True)


def test_no_file_stays_open(photos):
    with warnings.catch_warnings():
        warnings.simplefilter("error", ResourceWarning)
        all_of(image_folder(Path(photos), size=4))
