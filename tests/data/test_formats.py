"""Miniature archives in each published format, and archives that are damaged or hostile."""

import dataclasses
import gzip
import hashlib
import io
import tarfile
import zipfile

import numpy as np
import pytest
from scipy.io import savemat

from rehead import data
from rehead.data import DataFileError, archive

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
    with zipfile.ZipFile(buffer, "w") as file:
        for name, content in members.items():
            file.writestr(name, content)
    return buffer.getvalue()


def rows(images, *labels):
    columns = [np.asarray(y, np.uint8)[:, None] for y in labels]
    return np.hstack([*columns, images.reshape(len(images), -1)]).tobytes()


@pytest.fixture
def publish(monkeypatch, tmp_path):
    """Put files where a data set looks for them, and make their checksums the expected ones."""

    def put(name, *contents, checksums=True):
        dataset = data.DATASETS[name]
        folder = tmp_path / dataset.folder
        folder.mkdir()
        remotes = []
        for remote, content in zip(dataset.remotes, contents, strict=True):
            (folder / remote.name).write_bytes(content)
            sha256 = hashlib.sha256(content).hexdigest() if checksums else remote.sha256
            remotes.append(dataclasses.replace(remote, sha256=sha256))
        changed = dataclasses.replace(dataset, remotes=tuple(remotes))
        monkeypatch.setitem(data.DATASETS, name, changed)

        def load(**options):
            return data.load(name, folder=tmp_path, **{"validation": 0, **options})

        return load

    return put


def check_images(splits, y_train, y_test):
    for part, images, y in ((splits.train, TRAIN, y_train), (splits.test, TEST, y_test)):
        np.testing.assert_array_equal(part.X, images)
        np.testing.assert_array_equal(part.y, y)
        assert part.X.dtype == np.uint8
        assert part.X.flags.c_contiguous
        assert part.y.dtype == part.ids.dtype == np.int64
    np.testing.assert_array_equal(splits.test.ids, np.arange(20, 25))


def cifar10():
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


def test_cifar10(publish):
    load = publish("cifar10", tar_of(cifar10()))
    splits = load()
    check_images(splits, np.arange(20) % 10, np.arange(5))
    assert splits.class_names == list("abcdefghij")
    assert len(load(validation=10).validation.y) == 10


def test_cifar100_takes_the_fine_labels(publish):
    fine = (7 * np.arange(20)) % 100
    members = {
        "cifar-100-binary/train.bin": rows(TRAIN, np.zeros(20), fine),
        "cifar-100-binary/test.bin": rows(TEST, np.ones(5), fine[:5]),
        "cifar-100-binary/fine_label_names.txt": "\n".join(map(str, range(100))).encode(),
    }
    splits = publish("cifar100", tar_of(members))()
    check_images(splits, fine, fine[:5])
    assert len(splits.class_names) == 100


def mat(images, y):
    buffer = io.BytesIO()
    X = images.transpose(2, 3, 1, 0)
    savemat(buffer, {"X": X, "y": np.asarray(y, np.uint8)[:, None]}, do_compression=True)
    return buffer.getvalue()


def test_svhn_calls_the_tenth_class_0(publish):
    y = np.arange(1, 21) % 10
    load = publish("svhn", mat(TRAIN, np.where(y == 0, 10, y)), mat(TEST, [10, 1, 2, 9, 10]))
    check_images(load(), y, [0, 1, 2, 9, 0])


def npz(images, y):
    buffer = io.BytesIO()
    np.savez(buffer, data=images.reshape(len(images), -1), labels=y, mean=np.zeros(3072))
    return buffer.getvalue()


def imagenet():
    y = np.arange(1, 21) * 50
    train = {
        f"Imagenet32_train_npz/train_data_batch_{i + 1}.npz": npz(
            TRAIN[2 * i : 2 * i + 2], y[2 * i : 2 * i + 2]
        )
        for i in range(10)
    }
    return train, {"Imagenet32_val_npz/val_data.npz": npz(TEST, np.array([1, 2, 3, 999, 1000]))}


def test_imagenet32_counts_classes_from_0(publish, tmp_path):
    load = publish("imagenet32", *(zip_of(part) for part in imagenet()))
    splits = load()
    check_images(splits, np.arange(1, 21) * 50 - 1, [0, 1, 2, 998, 999])
    assert splits.class_names[:2] == ["1", "2"]
    (tmp_path / "imagenet32" / "map_clsloc.txt").write_text("n02119789 1 kit_fox\nn1 1000 toad\n")
    assert load().class_names[::999] == ["kit_fox", "toad"]


def test_nothing_is_unpickled(publish):
    train, test = imagenet()
    objects = np.array([{"a": 1}], dtype=object)
    buffer = io.BytesIO()
    np.savez(buffer, data=objects, labels=objects)
    first = next(iter(train))
    load = publish("imagenet32", zip_of({**train, first: buffer.getvalue()}), zip_of(test))
    with pytest.raises(DataFileError, match=r"Imagenet32_train_npz.zip cannot be read"):
        load()


def test_the_checksum_comes_before_the_reader(publish, monkeypatch):
    load = publish("cifar10", tar_of(cifar10()), checksums=False)
    monkeypatch.setattr(tarfile, "open", lambda *a, **k: pytest.fail("was read"))
    with pytest.raises(DataFileError, match=r"cifar-10-binary.tar.gz is damaged.*Delete it"):
        load()


def special(name, kind, link=""):
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, link
    return info


HOSTILE = {
    "../evil": b"x",
    "/evil": b"x",
    "cifar-10-batches-bin/../../evil": b"x",
    "..\\evil": b"x",
    "c:evil": b"x",
    "symlink": special("symlink", tarfile.SYMTYPE, "/etc/hostname"),
    "hardlink": special("hardlink", tarfile.LNKTYPE, "cifar-10-batches-bin/readme.html"),
    "device": special("device", tarfile.CHRTYPE),
    "fifo": special("fifo", tarfile.FIFOTYPE),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_tar_is_refused(publish, tmp_path, name):
    load = publish("cifar10", tar_of({name: HOSTILE[name], **cifar10()}))
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(DataFileError, match="was refused"):
        load()
    assert sorted(tmp_path.rglob("*")) == before
    assert not (tmp_path.parent / "evil").exists()


def test_a_hostile_zip_is_refused(publish):
    train, test = imagenet()
    load = publish("imagenet32", zip_of({"../evil": b"x", **train}), zip_of(test))
    with pytest.raises(DataFileError, match="was refused"):
        load()


def test_a_member_that_is_too_large_is_refused(publish, monkeypatch):
    load = publish("cifar10", tar_of(cifar10()))
    monkeypatch.setattr(archive, "LARGEST", 1000)
    with pytest.raises(DataFileError, match=r"was refused.*more than expected"):
        load()


DAMAGE = {
    "truncated": lambda content: content[: len(content) // 2],
    "empty": lambda content: b"",
    "another file": lambda content: b"<html>not found</html>" * 50,
    "flipped": lambda content: content[:999] + b"\0" * 2000 + content[2999:],
}


@pytest.mark.parametrize("how", DAMAGE)
def test_a_damaged_archive_is_named(publish, how):
    load = publish("cifar10", DAMAGE[how](tar_of(cifar10())))
    with pytest.raises(DataFileError, match=r"cifar-10-binary.tar.gz .*Delete it"):
        load()


@pytest.mark.parametrize("how", DAMAGE)
def test_a_damaged_zip_is_named(publish, how):
    train, test = (zip_of(part) for part in imagenet())
    with pytest.raises(DataFileError, match=r"Imagenet32_train_npz.zip .*Delete it"):
        publish("imagenet32", DAMAGE[how](train), test)()


@pytest.mark.parametrize("how", DAMAGE)
def test_a_damaged_matlab_file_is_named(publish, how):
    y = np.ones(20)
    with pytest.raises(DataFileError, match=r"train_32x32.mat .*Delete it"):
        publish("svhn", DAMAGE[how](mat(TRAIN, y)), mat(TEST, y[:5]))()


def test_a_matlab_file_of_something_else(publish):
    buffer = io.BytesIO()
    savemat(buffer, {"X": np.zeros((3, 4)), "y": np.zeros(4)})
    with pytest.raises(DataFileError, match="no images of 32 x 32 x 3"):
        publish("svhn", buffer.getvalue(), buffer.getvalue())()


@pytest.mark.parametrize(
    ("member", "content"),
    [("data_batch_3.bin", None), ("batches.meta.txt", None), ("data_batch_3.bin", b"1234")],
)
def test_an_incomplete_archive_is_named(publish, member, content):
    members = cifar10()
    name = f"cifar-10-batches-bin/{member}"
    members = {k: v for k, v in members.items() if k != name}
    if content:
        members[name] = content
    with pytest.raises(DataFileError, match=r"cifar-10-binary.tar.gz (has no|cannot be read)"):
        publish("cifar10", tar_of(members))()


def test_a_gzip_that_is_no_tar(publish):
    with pytest.raises(DataFileError, match="cannot be read"):
        publish("cifar10", gzip.compress(b"hello" * 1000))()


TRAIN_NEWS = b"".join(
    b"ship\tthe port port port %d\nacq\tthe firm buys\n" % (i % 3) for i in range(100)
)


def test_words_are_ranked_by_occurrences_and_rare_topics_left_out(publish, monkeypatch):
    monkeypatch.setattr("rehead.data.reuters.N_WORDS", 1)
    train = TRAIN_NEWS + b"acq\tfirm firm\n" * 60 + b"grain\twheat wheat\n" * 99
    load = publish("reuters8", train, b"acq\tfirm\nship\tport port\ngrain\twheat\n")
    news = load()
    assert news.class_names == ["acq", "ship"]
    np.testing.assert_array_equal(news.train.y[:2], [1, 0])
    # 300 ports in 100 documents, 220 firms in 160.
    np.testing.assert_array_equal(news.test.X, [[0], [1]])
    assert news.test.X.dtype == np.float32
    raw = load(raw=True)
    assert raw.test.X.tolist() == ["firm", "port port"]
    np.testing.assert_array_equal(raw.test.ids, [260, 261])


def test_news_without_a_tab(publish):
    with pytest.raises(DataFileError, match=r"r8-train-all-terms.txt cannot be read"):
        publish("reuters8", TRAIN_NEWS + b"no label\n", b"acq\tfirm\n")()


RUN, WELL = b"i\tO\nrun\tV\n\n", b"well\tT\ni\tO\n\n"


@pytest.fixture
def tweets(publish):
    return publish("twitter_pos", (RUN + WELL) * 99 + 2 * RUN, RUN, WELL)


def test_windows_are_made_before_rare_tags_are_dropped(tweets):
    words = tweets(raw=True, validation=None)
    assert words.class_names == ["O", "V"]
    assert words.train.X[:3].tolist() == [
        ["</s>", "i", "run"],
        ["i", "run", "</s>"],
        ["well", "i", "</s>"],
    ]
    assert words.validation.X.shape == (2, 3)
    assert words.test.X.tolist() == [["well", "i", "</s>"]]


def test_tweets_without_embeddings_tell_what_to_do(tweets):
    with pytest.raises(FileNotFoundError, match=r"embeddings-twitter.txt.*raw=True"):
        tweets()


def test_embeddings_of_the_paper_come_first(tweets, tmp_path):
    folder = tmp_path / "twitter_pos"
    words = np.array(["</s>", "i", "run", "well"])
    np.savez(folder / "embeddings50.npz", words=words, vectors=np.eye(4, 50, dtype=np.float32))
    X = tweets().train.X
    assert X.shape[1] == 150
    np.testing.assert_array_equal(np.flatnonzero(X[0]), [0, 51, 102])
    lines = {w: " ".join(["0"] * k + ["2.5"] + ["0"] * (49 - k)) for k, w in enumerate(words)}
    del lines["run"]
    text = folder / "embeddings-twitter.txt"
    text.write_text("".join(f"{w} {v}\n" for w, v in lines.items()))
    with pytest.raises(DataFileError, match=r"no vector for 1 words \('run' first\)"):
        tweets()
    with text.open("a") as file:
        file.write("UUUNKKK" + " 7" * 50 + "\n")
    X = tweets().train.X
    np.testing.assert_array_equal(X[0, 100:], np.full(50, 7))
    assert X[0, 51] == 2.5
    text.write_text("i 1 2 3\n")
    with pytest.raises(DataFileError, match="'i' has 3 numbers"):
        tweets()
