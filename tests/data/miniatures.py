"""Miniature archives in each published format, and ways to damage them."""

import io
import tarfile
import zipfile

import numpy as np
from PIL import Image
from scipy.io import savemat

RNG = np.random.default_rng(0)
TRAIN, TEST = (RNG.integers(256, size=(n, 3, 32, 32), dtype=np.uint8) for n in (20, 5))


def tar_of(members):
    """Bytes of a tar.gz from names and contents, or from ready members."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as tar:
        for name, content in members.items():
            info = content if isinstance(content, tarfile.TarInfo) else tarfile.TarInfo(name)
            if info is not content:
                info.size = len(content)
            tar.addfile(info, None if info is content else io.BytesIO(content))
    return buffer.getvalue()


def zip_of(members):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in members.items():
            file.writestr(name, content)
    return buffer.getvalue()


def rows(images, *labels):
    columns = [np.asarray(y, np.uint8)[:, None] for y in labels]
    return np.hstack([*columns, images.reshape(len(images), -1)]).tobytes()


TILES = RNG.integers(256, size=(6, 3, 32, 32), dtype=np.uint8)


def write_mosaic(path, tiles=TILES):
    """Two rows of three tiles."""
    rows = tiles.reshape(2, 3, 3, 32, 32).transpose(0, 3, 1, 4, 2)
    Image.fromarray(rows.reshape(64, 96, 3)).save(path, lossless=True)


def check_images(splits, y_train, y_test):
    for part, images, y in ((splits.train, TRAIN, y_train), (splits.test, TEST, y_test)):
        np.testing.assert_array_equal(part.X, images)
        np.testing.assert_array_equal(part.y, y)
        assert part.X.dtype == np.uint8
        assert part.X.flags.c_contiguous
        assert part.y.dtype == part.ids.dtype == np.int64
    np.testing.assert_array_equal(splits.test.ids, np.arange(20, 25))


def cifar10():
    """Members of the binary archive of CIFAR-10."""
    y = np.arange(20) % 10
    folder = "cifar-10-batches-bin"
    batches = {
        f"{folder}/data_batch_{i + 1}.bin": rows(TRAIN[4 * i : 4 * i + 4], y[4 * i : 4 * i + 4])
        for i in range(5)
    }
    # Out of order, as nothing forbids.
    return {
        f"{folder}/test_batch.bin": rows(TEST, y[:5]),
        **dict(reversed(batches.items())),
        f"{folder}/readme.html": b"hello",
        f"{folder}/batches.meta.txt": "\n".join("abcdefghij").encode() + b"\n\n",
    }


def mat(images, y):
    """A MATLAB file of SVHN."""
    buffer = io.BytesIO()
    X = images.transpose(2, 3, 1, 0)
    savemat(buffer, {"X": X, "y": np.asarray(y, np.uint8)[:, None]}, do_compression=True)
    return buffer.getvalue()


def npz(images, y):
    """One part of ImageNet."""
    buffer = io.BytesIO()
    np.savez(buffer, data=images.reshape(len(images), -1), labels=y, mean=np.zeros(3072))
    return buffer.getvalue()


def imagenet():
    """Members of the two zip files of ImageNet."""
    y = np.arange(1, 21) * 50
    train = {
        f"Imagenet32_train_npz/train_data_batch_{i + 1}.npz": npz(
            TRAIN[2 * i : 2 * i + 2], y[2 * i : 2 * i + 2]
        )
        for i in range(10)
    }
    return train, {"Imagenet32_val_npz/val_data.npz": npz(TEST, np.array([1, 2, 3, 999, 1000]))}


DAMAGE = {
    "truncated": lambda content: content[: len(content) // 2],
    "empty": lambda content: b"",
    "another file": lambda content: b"<html>not found</html>" * 50,
    "flipped": lambda content: content[:999] + b"\0" * 2000 + content[2999:],
}
