"""Images and texts as people keep them: folders by class, tables of paths or of texts."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import DataLoader, Dataset

from rehead import _validation as check
from rehead._columns import as_column
from rehead._typing import Array
from rehead.files.images import IMAGES, image_files
from rehead.files.tables import Table, read_table

SIZE = 224
"""Width and height of images where no transform is given."""
BATCH = 64

Transform = Callable[[Any], Any]
Loader = DataLoader[Any]


class ImageFiles(Dataset[tuple[Tensor, Any, Any]]):
    """Images on disk, each read when it is asked for.

    Attributes
    ----------
    files : list of Path
    labels : array or None
    ids : array
    transform : callable
        Takes a PIL image, gives a tensor.
    """

    def __init__(
        self, files: Sequence[Path], labels: Array | None, ids: Array, transform: Transform
    ) -> None:
        self.files, self.labels, self.ids = list(files), labels, ids
        self.transform = transform

    def __len__(self) -> int:
        return len(self.files)

    def __getitem__(self, i: int) -> tuple[Tensor, Any, Any]:
        made = self.transform(read_image(self.files[i]))
        made = torch.from_numpy(made) if isinstance(made, np.ndarray) else made
        if not isinstance(made, Tensor):
            raise TypeError(
                f"The transform must give a tensor for an image, got {type(made).__name__}. With "
                "torchvision, end it with ToTensor()."
            )
        return made, None if self.labels is None else self.labels[i], self.ids[i]


class Texts(Dataset[tuple[str, Any, Any]]):
    """Texts with their labels and ids, each of which may be missing."""

    def __init__(self, texts: Sequence[str], labels: Array | None, ids: Array | None) -> None:
        self.texts, self.labels, self.ids = list(texts), labels, ids

    def __len__(self) -> int:
        return len(self.texts)

    def __getitem__(self, i: int) -> tuple[str, Any, Any]:
        return (
            self.texts[i],
            None if self.labels is None else self.labels[i],
            None if self.ids is None else self.ids[i],
        )


def image_folder(
    folder: str | os.PathLike[str],
    transform: Transform | None = None,
    *,
    size: int = SIZE,
    batch_size: int = BATCH,
) -> Loader:
    """A loader of images that lie in folders by class: ``folder/class/*.jpg``.

    Labels are the names of the class folders, so sorted labels go with the outputs of a network
    that was trained on torchvision's ``ImageFolder``. Ids are paths below ``folder``. Images that
    lie in ``folder`` itself have no labels. An image is read when its batch is asked for; one that
    is damaged is an error that names its file.

    Parameters
    ----------
    folder : path
    transform : callable, optional
        Takes a PIL image and gives a tensor, as the network was trained. Default: RGB, resized to
        ``size`` x ``size``, values from 0 to 1.
    size : int, default=224
        Used without a transform.
    batch_size : int, default=64

    Returns
    -------
    torch.utils.data.DataLoader
        Its batches are (images, labels, ids).

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from PIL import Image
    >>> from torch import nn
    >>> from rehead.torch import RobustHead, image_folder
    >>> photos = TemporaryDirectory()
    >>> for name, colour in (("day", "skyblue"), ("night", "navy")):
    ...     (Path(photos.name) / name).mkdir()
    ...     for i in range(20):
    ...         image = Image.new("RGB", (30 + i, 30), colour)
    ...         image.putpixel((i, i), (255, 255, 255))
    ...         image.save(f"{photos.name}/{name}/{i:02d}.png")
    >>> loader = image_folder(photos.name, size=8)
    >>> images, labels, ids = next(iter(loader))
    >>> images.shape, str(labels[0]), Path(ids[-1]).as_posix()
    (torch.Size([40, 3, 8, 8]), 'day', 'night/19.png')
    >>> net = nn.Sequential(nn.Flatten(), nn.Linear(192, 4), nn.ReLU(), nn.Linear(4, 2))
    >>> head = RobustHead(net, layers=["1"], estimator="sample", shrinkage=0.5).fit(loader)
    >>> head.predict(loader)[-1].item()
    'night'
    >>> photos.cleanup()
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise FileNotFoundError(f"There is no folder {folder}.")
    files = image_files(folder)
    if not files:
        raise ValueError(
            f"{folder} holds no images ({', '.join(IMAGES)}). They must lie in folders by class: "
            f"{folder}/CLASS/*.jpg."
        )
    inside = [file.relative_to(folder) for file in files]
    loose = [file for file in inside if len(file.parts) == 1]
    if loose and len(loose) < len(inside):
        raise ValueError(
            f"{folder} has images in class folders and beside them ({loose[0]} first). Move them "
            "into a class folder, or elsewhere."
        )
    _refuse_parts(folder, inside)
    labels = None if loose else np.array([file.parts[0] for file in inside])
    ids = np.array([file.as_posix() for file in inside])
    return _images(ImageFiles(files, labels, ids, transform or plain_images(size)), batch_size)


def _refuse_parts(folder: Path, inside: Sequence[Path]) -> None:
    """Raise if the folders are not classes but parts, each with folders of the same classes."""
    if any(len(file.parts) < 3 for file in inside):
        return
    below: dict[str, set[str]] = {}
    for file in inside:
        below.setdefault(file.parts[0], set()).add(file.parts[1])
    first, *others = below.values()
    if any(first & other for other in others):
        part, names = next(iter(below)), sorted(first)
        raise ValueError(
            f"The folders of {folder} ({check.first_few(sorted(below))}) hold folders of the same "
            f"names ({check.first_few(names)}), which seem to be the classes. Pass one of them, "
            f"{folder / part}."
        )


def image_table(
    file: str | os.PathLike[str],
    paths: str,
    labels: str | Array | None = None,
    ids: str | Array | None = None,
    *,
    transform: Transform | None = None,
    size: int = SIZE,
    batch_size: int = BATCH,
) -> Loader:
    r"""A loader of images whose paths are in a column of a CSV or Parquet file.

    Parameters
    ----------
    file : path
        The table.
    paths : str
        Its column of paths, which are relative to the folder of the table.
    labels, ids : str or array, optional
        Its columns of labels and ids, or one for each row. Default for ids: the paths.
    transform, size, batch_size
        As for :func:`image_folder`.

    Returns
    -------
    torch.utils.data.DataLoader
        Its batches are (images, labels, ids).

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from PIL import Image
    >>> from rehead.torch import image_table
    >>> with TemporaryDirectory() as folder:
    ...     Image.new("L", (50, 40)).save(f"{folder}/first.png")
    ...     table = Path(folder) / "photos.csv"
    ...     _ = table.write_text("file,kind\nfirst.png,cat\n")
    ...     images, labels, ids = next(iter(image_table(table, "file", "kind")))
    >>> images.shape, labels.tolist(), ids.tolist()
    (torch.Size([1, 3, 224, 224]), ['cat'], ['first.png'])
    """
    table = read_table(_existing(file))
    names = table.values(paths, exact=True).astype(str)
    files = [table.path.parent / name for name in names.tolist()]
    for row, path in enumerate(files):
        if not path.is_file():
            raise FileNotFoundError(
                f"{table.place(row)}: there is no file {path}. Paths must be relative to the "
                "folder of the table, or absolute."
            )
    data = ImageFiles(
        files,
        None if labels is None else _beside(table, labels, "labels"),
        names if ids is None else _beside(table, ids, "ids"),
        transform or plain_images(size),
    )
    return _images(data, batch_size)


def text_table(
    file: str | os.PathLike[str],
    texts: str,
    transform: Transform,
    labels: str | Array | None = None,
    ids: str | Array | None = None,
    *,
    batch_size: int = BATCH,
) -> Loader:
    r"""A loader of texts in a column of a CSV or Parquet file.

    Parameters
    ----------
    file : path
        The table.
    texts : str
        Its column of texts.
    transform : callable
        Takes a list of texts and gives what the network takes: a tensor, or a dict of tensors for
        models of Hugging Face.
    labels, ids : str or array, optional
        Its columns of labels and ids, or one for each row. Default for ids: row numbers.
    batch_size : int, default=64

    Returns
    -------
    torch.utils.data.DataLoader
        Its batches are (inputs, labels, ids).

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import torch
    >>> from rehead.torch import text_table
    >>> lengths = lambda texts: torch.tensor([[float(len(text))] for text in texts])
    >>> with TemporaryDirectory() as folder:
    ...     table = Path(folder) / "reviews.csv"
    ...     _ = table.write_text("text,label\nGood.,1\nBad!,0\n")
    ...     loader = text_table(table, "text", lengths, labels="label")
    >>> next(iter(loader))[0].tolist()
    [[5.0], [4.0]]
    """
    table = read_table(_existing(file))
    data = Texts(
        table.values(texts, exact=True).astype(str).tolist(),
        None if labels is None else _beside(table, labels, "labels"),
        None if ids is None else _beside(table, ids, "ids"),
    )
    return DataLoader(data, batch_size, collate_fn=partial(_join_texts, transform))


def _beside(table: Table, given: str | Array, what: str) -> Array:
    """A column of the table, or one value for each of its rows."""
    if isinstance(given, str):
        return table.values(given, exact=what == "ids")
    n = len(next(iter(table.columns.values())))
    if len(given) != n:
        raise ValueError(f"{table.path} has {n} rows, and there are {len(given)} {what}.")
    return given


def read_image(path: Path) -> Any:
    """An image, decoded."""
    from PIL import Image

    try:
        with Image.open(path) as image:
            image.load()
            return image
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        raise ValueError(
            f"Cannot read the image {path}: {error}. Replace the file, or leave it out."
        ) from error


def plain_images(size: int = SIZE) -> Transform:
    """A transform: RGB, resized to ``size`` x ``size``, values from 0 to 1."""
    if not (check.is_real(size) and size == int(size) and size >= 1):
        raise ValueError(f"size must be a whole number of at least 1, got {size!r}.")
    return partial(_plain_image, size=int(size))


def _plain_image(image: Any, size: int) -> Tensor:
    pixels = np.array(image.convert("RGB").resize((size, size)), np.float32)
    return torch.from_numpy(pixels.transpose(2, 0, 1) / 255.0)


def _images(data: ImageFiles, batch_size: int) -> Loader:
    return DataLoader(data, batch_size, collate_fn=_join_images)


def _join_images(samples: Sequence[tuple[Tensor, Any, Any]]) -> tuple[Any, Any, Any]:
    images, labels, ids = zip(*samples, strict=True)
    for image, name in zip(images, ids, strict=True):
        if image.shape != images[0].shape:
            raise ValueError(
                f"The transform gives images of different shapes: {tuple(images[0].shape)} for "
                f"{ids[0]}, {tuple(image.shape)} for {name}. Resize or crop them to one size."
            )
    return torch.stack(images), _column(labels), _column(ids)


def _join_texts(
    transform: Transform, samples: Sequence[tuple[str, Any, Any]]
) -> tuple[Any, Any, Any]:
    texts, labels, ids = zip(*samples, strict=True)
    return transform(list(texts)), _column(labels), _column(ids)


def _column(values: Sequence[Any]) -> Array | None:
    return None if values[0] is None else as_column(values)


def _existing(file: str | os.PathLike[str]) -> Path:
    path = Path(file)
    if not path.is_file():
        raise FileNotFoundError(f"There is no file {path}.")
    return path
