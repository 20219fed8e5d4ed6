"""A folder of photos, and a look at what is shown of them."""

import io

import pytest
from PIL import Image


@pytest.fixture
def decoded():
    """The image in WebP bytes."""

    def call(content):
        image = Image.open(io.BytesIO(content))
        assert image.format == "WEBP"
        return image

    return call


@pytest.fixture
def photos(tmp_path):
    folder = tmp_path / "photos"
    for name in ("cats/a.png", "cats/b.jpg", "dogs/c.webp"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        Image.new("RGB", (300, 200), "navy").save(folder / name)
    return folder
