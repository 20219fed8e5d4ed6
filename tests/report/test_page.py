"""The report on labels: one file, whatever the labels are."""

import html
import os
import re
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from rehead.report.page import Beside, write_report
from rehead.report.shown import Looks

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))
from pages import large_report

EVIL = "<script>alert(1)</script>"
PARTS = ("share", "worst", "map", "confusions", "classes", "layers", "strange", "structure", "next")


@pytest.fixture
def written(tmp_path):
    """The text of a report."""

    def call(report, beside):
        page = write_report(report, tmp_path / "report.html", beside)
        assert page.name == "report.html"
        return page.read_text(encoding="utf-8")

    return call


def scripts(page):
    return re.findall(r"<script[^>]*>", page)


def test_all_parts_are_there_and_nothing_is_outside(judged, written):
    report, X, truth = judged()
    page = written(report, Beside(X, truth=truth))
    for part in (*PARTS, "truth", "how"):
        assert f'<section id="{part}">' in page
    assert not re.search(r"(src|href)=\"(?!data:|#)", page)
    assert "http://" not in page
    assert "https://" not in page
    assert "default-src 'none'" in page
    assert page.count("<summary>As a table") == 2  # curve and heat map; the rest are tables


def test_labels_and_texts_that_hold_html_stay_text(judged, written):
    labels = [EVIL, "</script><b>", "fine & dandy"]
    ids = [f'"><img src=x onerror=alert({i})>' for i in range(300)]
    report, X, _ = judged(labels=labels, ids=ids)
    page = written(report, Beside(X, Looks(texts=[f"{EVIL} {i}" for i in range(300)]), title=EVIL))
    assert EVIL not in page
    assert "<img src=x" not in page
    assert html.escape(EVIL) in page
    assert scripts(page) == ['<script type="application/json" id="points">', "<script>"]


def tip_at(page, x, y):
    """What the map says about a place, when the browser has seen that the mouse is there."""
    page.mouse.move(x, y)
    return page.evaluate(
        """() => new Promise((done) => {
          const tip = document.querySelector(".tip");
          const told = () => done(tip.hidden ? null : tip.innerText);
          requestAnimationFrame(() => requestAnimationFrame(told));
        })"""
    )


def wait_shown(page, n):
    page.wait_for_selector(f"output:text-is('{n} samples shown')")


def test_a_page_with_such_labels_runs_nothing(judged, tmp_path, new_context):
    report, X, _ = judged(
        labels=[EVIL, "</script><b>", "c"], ids=[f"{EVIL}{i}" for i in range(300)]
    )
    beside = Beside(X, Looks(texts=[EVIL] * 300), title=EVIL)
    page, said, asked = new_context().new_page(), [], []
    page.on("dialog", lambda dialog: said.append(dialog.message))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("console", lambda message: said.append(message.text))
    page.on("request", lambda request: asked.append(request.url))
    page.goto(write_report(report, tmp_path / "r.html", beside).as_uri())
    field = page.locator(".field")
    field.scroll_into_view_if_needed()
    box = field.bounding_box()
    for share in np.linspace(0.05, 0.95, 60):
        tip_at(page, box["x"] + share * box["width"], box["y"] + box["height"] / 2)
    for share in np.linspace(0.05, 0.95, 60):
        tip_at(page, box["x"] + box["width"] / 2, box["y"] + share * box["height"])
    assert said == []
    assert len(asked) == 1
    assert page.locator("h1").inner_text() == EVIL


def test_the_map_shows_samples_and_filters_them(judged, tmp_path, new_context):
    report, X, _ = judged(labels=["ant", "bee", "cat"], ids=[f"img{i}" for i in range(300)])
    images = np.random.default_rng(0).integers(255, size=(300, 8, 8), dtype=np.uint8)
    target = write_report(report, tmp_path / "r.html", Beside(X, Looks(images=images)))
    page = new_context(viewport={"width": 1200, "height": 900}).new_page()
    page.goto(target.as_uri())
    wait_shown(page, "300 of 300")
    page.locator("select[name=given]").select_option(label="bee")
    bees = int((report.given == "bee").sum())
    wait_shown(page, f"{bees} of 300")
    page.locator("input[name=kind]").first.uncheck()
    bad = int(((report.given == "bee") & (report.kind != "ok")).sum())
    wait_shown(page, f"{bad} of 300")
    page.get_by_text("Show all").click()
    wait_shown(page, "300 of 300")
    page.locator("button[data-given]").first.click()
    pair = page.locator(".pairs tbody tr").first.locator("td.n").first.inner_text()
    wait_shown(page, f"{pair} of 300")
    page.get_by_text("Show all").click()
    wait_shown(page, "300 of 300")
    drawn = page.evaluate(
        "(() => { const c = document.querySelector('.field canvas');"
        "return c.getContext('2d').getImageData(0, 0, c.width, c.height).data.some(v => v); })()"
    )
    assert drawn
    field = page.locator(".field")
    field.scroll_into_view_if_needed()
    box = field.bounding_box()
    places = box["x"] + box["width"] * np.random.default_rng(0).uniform(size=(100, 2))
    places[:, 1] += box["y"] - box["x"]  # the field is a square
    tips = {tip_at(page, x, y) for x, y in places} - {None}
    assert tips
    given = dict(zip(report.names.tolist(), report.given.tolist(), strict=True))
    for tip in tips:  # the sample's own label, not that of another dot
        name, label = re.match(r"(img\d+)\ngiven (ant|bee|cat)\n", tip).groups()
        assert given[name] == label


@pytest.mark.parametrize("n_classes", [2, 300])
def test_few_and_many_classes(judged, written, n_classes):
    labels = [f"a class with the long name {c}" for c in range(n_classes)]
    settings = {"estimator": "sample"} if n_classes == 300 else {}
    report, X, _ = judged(n_classes, max(300, 20 * n_classes), labels=labels, **settings)
    page = written(report, Beside(X))
    if n_classes == 300:
        assert "270 are left out" in page
        assert "270 more classes" in page
        assert page.count("<rect") <= 30 * 30 + 10 * 24
        assert len(page) < 1_000_000
    else:
        assert "are left out" not in page
    assert ">NaN<" not in page
    assert ">nan" not in page


def test_without_a_noise_model(judged, written):
    report, X, _ = judged(preset="paper", random_state=0)
    page = written(report, Beside(X))
    assert "by the posterior alone" in page
    assert "the noise was not measured" in page
    assert "±" not in re.search(r'<div class="tile main">.*?</div>', page, re.DOTALL).group()


def test_clean_labels(judged, written):
    report, X, _ = judged(rate=0.0)
    page = written(report, Beside(X))
    assert "No label stands out" in page
    assert "about clean" in page


def test_without_features(judged, written):
    report, _, truth = judged()
    page = written(report, Beside(truth=truth))
    assert "<canvas" not in page
    assert "needs the features" in page
    assert "Where the truth is known" in page
    with pytest.raises(ValueError, match="the features that were judged, 300 rows; got 10"):
        write_report(report, "x.html", Beside(np.zeros((10, 6))))


def test_images_that_are_missing_or_broken_say_so(judged, written, tmp_path):
    ids = [f"{i:03d}" for i in range(300)]
    report, X, _ = judged(ids=ids)
    worst = report.worst(3).tolist()
    for name in ids:
        if name != worst[0]:
            Image.new("RGB", (9, 9), "red").save(tmp_path / f"{name}.png")
    (tmp_path / f"{worst[1]}.png").write_bytes(b"no image")
    page = written(report, Beside(X, Looks(images=tmp_path)))
    assert "There is no image of this sample" in page
    assert "The file is not an image" in page
    assert f"1 of 300 samples are not in the folder {tmp_path}: &#39;{worst[0]}&#39;." in page
    assert "2 samples cannot be shown" in page


def test_numbers_of_the_truth(judged, written):
    report, X, truth = judged()
    shown = [label if i % 2 else None for i, label in enumerate(truth.tolist())]
    page = written(report, Beside(X, truth=shown))
    known = np.arange(300) % 2 == 1
    right = (report.suggested == truth)[known].mean()
    assert "Share of 150 samples with a known true label" in page
    assert f"suggested labels</span><span>{100 * right:.1f}\u00a0%" in page


def test_an_interrupted_report_leaves_nothing(judged, tmp_path, monkeypatch):
    report, X, _ = judged()
    monkeypatch.setattr("rehead.report.page.render", lambda *a, **k: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        write_report(report, tmp_path / "r.html", Beside(X))
    assert os.listdir(tmp_path) == []


def test_a_hundred_thousand_samples_stay_below_five_megabytes(tmp_path, new_context):
    """Photos, long ids, 300 classes: the largest page there is; and how soon it can be used."""
    report, X, images = large_report(100_000)
    target = write_report(report, tmp_path / "r.html", Beside(X, Looks(images=images)))
    assert 3_000_000 < target.stat().st_size <= 5_000_000
    page = new_context().new_page()
    # 2 s is the promise, which benchmarks/pages.py measures; this only finds a page that hangs.
    page.goto(target.as_uri())
    page.wait_for_function("performance.getEntriesByName('ready').length === 1")
    wait_shown(page, "100,000 of 100,000")


def test_many_classes_with_long_names_stay_small_and_what_is_left_out_is_said(judged, tmp_path):
    names = [f"{i} {'a long name ' * 300}" for i in range(600)]
    report, X, _ = judged(600, 2400, labels=names, estimator="sample")
    target = write_report(report, tmp_path / "r.html", Beside(X))
    assert target.stat().st_size < 1_500_000
    page = target.read_text()
    assert f"{len(np.unique(report.given)) - 500} classes with still fewer wrong labels" in page
    assert "a long name " * 5 in page
    assert "a long name " * 7 not in page  # names of classes are cut
