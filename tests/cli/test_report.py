"""``rehead report``: a head, features, and what samples look like; one page."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from rehead import LayerEnsemble, noise


@pytest.fixture
def files(blobs, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X, truth = blobs(sizes=(100, 100, 100), d=4)
    names = np.array(["ant", "bee", "cat"])
    y = names[noise.uniform(truth, 0.15, random_state=0).labels]
    frame = pd.DataFrame(X, columns=list("abcd")).assign(
        kind=y, name=[f"s{i}" for i in range(300)], truth=names[truth]
    )
    frame.loc[::3, "truth"] = None
    frame.to_csv("x.csv", index=False)
    LayerEnsemble("anchored", random_state=0).fit({"features": frame[list("abcd")]}, y).save("head")
    return frame


OPTIONS = ("--labels", "kind", "--ids", "name", "--ignore", "truth")


def test_a_report_of_a_table(files, succeed):
    said = succeed("report", "head", "x.csv", *OPTIONS, "--table", "x.csv", "--truth", "truth")
    assert said.splitlines()[-1].startswith("Report: report.html (0.")
    page = Path("report.html").read_text()
    assert "<h1>Labels of x.csv</h1>" in page
    assert "Share of 200 samples with a known true label" in page
    assert "<dt>name</dt><dd>s" in page
    assert "rehead review head x.csv --labels kind --ids name --ignore truth --table x.csv" in page
    assert "rehead audit head x.csv --labels kind --ids name --ignore truth --corrected" in page


def test_images_and_texts(files, succeed):
    Path("photos").mkdir()
    for name in files["name"]:
        Image.new("L", (4, 4), 99).save(f"photos/{name}.png")
    succeed("report", "head", "x.csv", *OPTIONS, "--images", "photos", "-o", "a.html")
    assert Path("a.html").read_text().count("data:image/webp") > 24
    pd.DataFrame({"who": files["name"][::-1], "said": "Good & bad"}).to_csv("t.csv", index=False)
    succeed("report", "head", "x.csv", *OPTIONS, "--texts", "t.csv:said", "-o", "b.html")
    assert "Good &amp; bad" in Path("b.html").read_text()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--images", "none"], "no folder of images none"),
        (["--texts", "x.csv:no"], "no column 'no'"),
        (["--table", "x.csv", "--texts", "x.csv:name"], "one of images, texts and table"),
        (["-o", "page.pdf"], "must end in .html"),
        (["--truth", "nobody"], "neither a column of x.csv nor a file"),
    ],
)
def test_mistakes_are_named(files, fail, arguments, message):
    assert message in fail("report", "head", "x.csv", *OPTIONS, *arguments)
    assert not Path("report.html").exists()


def test_what_is_read_is_not_written_over(files, fail, succeed):
    Path("x.csv").rename("x.html")
    assert "is what the command reads" in fail("report", "head", "x.html", "-o", "x.html")
