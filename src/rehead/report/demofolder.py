"""The demo as a folder of `rehead clean`, for `rehead review` to open."""

from __future__ import annotations

import io
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from rehead._typing import Array
from rehead.ensemble import LayerEnsemble
from rehead.evaluation.comparison import SOFTMAX
from rehead.experiments.demo import DemoSettings, Showcase
from rehead.files.atomic import write_atomically
from rehead.files.cleaned import INSIDE, CleanedFolder, Cleaning, CleaningError
from rehead.files.tables import write_csv
from rehead.report.demo import digit_images
from rehead.report.page import Beside, write_report
from rehead.report.rendering import versions
from rehead.report.shown import Looks

TRAIN, HELD_OUT, IMAGES = "train.npz", "held-out.npz", "images.npy"


def check_demo_folder(path: str | Path, settings: DemoSettings) -> None:
    """Raise if a folder holds something else than this demo, before it is run."""
    folder = CleanedFolder(path)
    if folder.path.exists() and not folder.path.is_dir():
        raise CleaningError(f"{path} is a file. Choose another folder for the demo.")
    if not folder.is_begun():
        if folder.path.is_dir() and any(folder.path.iterdir()):
            raise CleaningError(
                f"{path} holds other files. Choose another folder for the demo, with --folder."
            )
        return
    before, now = folder.read().network, demo_cleaning(settings).network
    if before != now:
        was = ", ".join(f"{name} {value}" for name, value in before.items())
        raise CleaningError(
            f"{path} was made from {was or 'other data'}. Choose another folder for the demo, with "
            "--folder, or delete this one."
        )


def demo_cleaning(settings: DemoSettings) -> Cleaning:
    """What the folder says that it was made from."""

    def source(file: str) -> dict[str, object]:
        place = INSIDE + file
        return {"data": place, "labels": f"{place}:labels", "ids": f"{place}:ids", "ignore": []}

    return Cleaning(
        train=source(TRAIN),
        validation=source(HELD_OUT),
        looks={"images": INSIDE + IMAGES},
        network={
            "data": "digits",
            "noise": settings.noises[0],
            "rate": settings.rate,
            "seed": settings.seed,
        },
        head={"given": [SOFTMAX], "random_state": settings.seed},
        versions=versions("torch"),
    )


def write_demo_folder(showcase: Showcase, settings: DemoSettings, path: str | Path) -> Path:
    """Write what is not there yet: features, labels, images, head, suspects, report.

    Decisions of a review, which name the head, stay good.
    """
    folder = CleanedFolder(path)
    check_demo_folder(path, settings)
    folder.write(demo_cleaning(settings))
    digits, (held_out, held_labels) = showcase.digits, showcase.held_out
    train = {
        "labels": showcase.noisy.labels,
        "ids": digits.train.ids,
        "truth": digits.train.y,
    }
    images = digit_images(showcase)
    files = {
        TRAIN: _npz({**showcase.layers, **train}),
        HELD_OUT: _npz({**held_out, "labels": held_labels, "ids": digits.validation.ids}),
        IMAGES: _npy(images),
    }
    for name, content in files.items():
        if not (folder.path / name).exists():
            write_atomically(folder.path / name, content)
    report = showcase.report
    if not folder.head.exists():
        assert isinstance(report.model, LayerEnsemble)
        report.model.save(folder.head)
    if not folder.suspects.exists():
        write_csv(folder.suspects, report.file_columns(), for_people=True)
    if not folder.report.exists():
        beside = Beside(
            showcase.layers,
            Looks(images=images),
            truth=digits.train.y,
            outputs=showcase.layers[SOFTMAX],
            steps=[
                ("Go through the suspects by keyboard, in a browser:", f"rehead review {path}"),
                ("Corrected labels, and the head fitted again:", f"rehead apply {path}"),
            ],
            title=f"Digits, {settings.rate:.0%} of the labels wrong ({showcase.noise})",
        )
        write_report(report, folder.report, beside)
    return folder.path


def _npz(arrays: Mapping[str, Array]) -> bytes:
    content = io.BytesIO()
    np.savez(content, **arrays)  # type: ignore[arg-type]
    return content.getvalue()


def _npy(array: Array) -> bytes:
    content = io.BytesIO()
    np.save(content, array, allow_pickle=False)
    return content.getvalue()
