"""The page in a real browser: one key decides, saves, and shows the next."""

import json
import re
import time
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

from rehead.report.shown import Looks, open_shown
from rehead.review.desk import Desk
from rehead.review.draws import Shown
from rehead.review.filters import Filter
from rehead.review.subject import Subject


@pytest.fixture
def served(desk, serve_desk):
    return serve_desk(desk)


def row_of(page):
    page.wait_for_selector("article.card")
    return int(page.get_attribute("article.card", "data-row"))


def wait_row(page, row):
    page.wait_for_selector(f"article.card[data-row='{row}']")


def press(page, key):
    """Press a key; another sample is shown then. The row that was shown before."""
    before = row_of(page)
    page.keyboard.press(key)
    page.wait_for_selector(f"article.card:not([data-row='{before}'])")
    return before


def wait_until(page, expression, seconds=60):
    """Wait until something holds in the page, which does not let others wait in it."""
    until = time.monotonic() + seconds
    while not page.evaluate(expression):
        assert time.monotonic() < until, expression
        page.wait_for_timeout(30)


def wait_saved(page):
    wait_until(page, "document.getElementById('saving').textContent === 'saved'")


def wait_view(page, view):
    """Wait until a view is open, with what it shows."""
    page.wait_for_selector(f"body[data-view={view}]")
    page.wait_for_selector(LOADED[view])
    wait_until(page, "[...document.images].every((i) => i.complete || i.loading === 'lazy')")


LOADED = {
    "review": "article.card .neighbours",
    "pairs": ".tile",
    "list": ".line .labels",
    "progress": ".sheets",
}


def statuses(desk, rows):
    desk.catch_up()
    return [desk.standings.standing(row).status for row in rows]


def test_ten_decisions_by_keyboard_then_undo_and_a_reload_in_the_middle(served, desk, open_page):
    page = open_page(served)
    rows = [press(page, key) for key in "ksksoun"]
    page.keyboard.press("c")
    page.keyboard.type("do")
    page.keyboard.press("Escape")
    page.wait_for_selector("#chooser", state="hidden")
    wait_saved(page)
    page.reload()
    page.wait_for_selector("body[data-ready]")
    assert row_of(page) not in rows
    rows += [press(page, "k") for _ in range(3)]
    wait_saved(page)
    assert statuses(desk, rows) == ["decided"] * 5 + ["unsure", "skipped"] + ["decided"] * 3
    for row in reversed(rows[-3:]):
        page.keyboard.press("z")
        wait_row(page, row)
    assert statuses(desk, rows[-3:]) == ["undecided"] * 3


def test_another_class_by_search_and_then_by_its_number(served, desk, open_page):
    page = open_page(served)
    row, label = row_of(page), None
    page.keyboard.press("/")
    page.wait_for_selector("#chooser-list li")
    page.keyboard.press("ArrowDown")
    label = page.locator("#chooser-list [aria-selected=true]").inner_text()
    page.keyboard.press("Enter")
    wait_saved(page)
    desk.catch_up()
    assert desk.standings.standing(row).decision.new == label
    page.wait_for_selector(".recent")
    while page.locator(".choice.given strong").inner_text() == label:
        press(page, "n")
    second = press(page, "1")
    wait_saved(page)
    desk.catch_up()
    assert desk.standings.standing(second).decision.new == label


def test_a_batch_of_a_pair_without_its_exceptions_and_one_undo(served, desk, open_page):
    page = open_page(served)
    page.keyboard.press("p")
    page.wait_for_selector(".tile")
    tiles = page.locator(".tile input")
    n = tiles.count()
    title = page.locator(".grid h1").inner_text()
    # The keys work at once: nobody has to find the first sample with Tab or the mouse.
    page.keyboard.press("Space")
    page.keyboard.press("ArrowRight")
    wait_until(page, "document.querySelectorAll('.tile input')[1] === document.activeElement")
    assert not tiles.nth(0).is_checked()
    page.keyboard.press("Enter")
    wait_saved(page)
    desk.catch_up()
    assert desk.standings.counts()["decided"] == n - 1
    assert len({line.client for line in desk.log.lines()}) == 1
    page.keyboard.press("z")
    wait_until(page, "document.getElementById('saving').textContent.includes('taken back')")
    desk.catch_up()
    assert desk.standings.counts()["decided"] == 0
    wait_until(page, f"document.querySelectorAll('.tile').length === {n}")
    wait_until(page, f"document.querySelector('.grid h1')?.innerText === {json.dumps(title)}")


def test_a_batch_that_is_taken_back_is_shown_again_not_the_next_pair(served, desk, open_page):
    page = open_page(served)
    page.keyboard.press("p")
    page.wait_for_selector(".tile")
    title = page.locator(".grid h1").inner_text()
    page.keyboard.press("Enter")
    wait_saved(page)
    page.wait_for_selector(".tile")
    assert page.locator(".grid h1").inner_text() != title
    page.keyboard.press("z")
    wait_until(page, "document.getElementById('saving').textContent.includes('taken back')")
    wait_until(page, f"document.querySelector('.grid h1')?.innerText === {json.dumps(title)}")


def test_two_tabs_share_the_work(served, desk, open_page):
    first = open_page(served)
    second = open_page(served, context=first.context)
    row = press(first, "k")
    second.wait_for_selector(f"article.card:not([data-row='{row}'])")
    press(second, "s")
    for page in (first, second):
        wait_saved(page)
    desk.catch_up()
    assert desk.standings.counts()["decided"] == 2


def test_two_reviewers_disagree_see_it_first_and_settle_it(served, desk, open_page, decide):
    row = int(desk.subject.suspects[0])
    decide(desk, "suggestion", "Bo", Shown(row, "suspect"))
    ann = open_page(served, "Ann")
    ann.keyboard.press("l")
    ann.locator(".line").filter(has_text=desk.report.names[row]).click()
    wait_row(ann, row)
    ann.keyboard.press("k")
    wait_saved(ann)
    assert statuses(desk, [row]) == ["disputed"]
    bo = open_page(served, "Bo")
    wait_row(bo, row)
    said = bo.locator(".earlier").inner_text()
    assert "Ann" in said
    assert "Bo" in said
    press(bo, "k")
    wait_saved(bo)
    assert statuses(desk, [row]) == ["decided"]


def test_export_refit_and_progress(served, desk, open_page):
    page = open_page(served)
    rows = [press(page, "s") for _ in range(5)]
    wait_saved(page)
    page.keyboard.press("g")
    wait_view(page, "progress")
    with page.expect_download() as download:
        page.get_by_text("Corrected labels (CSV)").click()
    text = download.value.path().read_text()
    assert text.count("Ann") == len(rows)
    page.get_by_text("Fit the head again").click()
    page.wait_for_selector(".said:has-text('labels corrected')")
    page.get_by_role("slider", name="Random draws").fill("20")
    wait_saved(page)
    desk.catch_up()
    assert desk.standings.shares.random == 0.2


def test_a_dead_server_loses_nothing_and_its_return_is_noticed(served, desk, open_page):
    page = open_page(served)
    first = press(page, "k")
    wait_saved(page)
    served.stop()
    later = [press(page, "k") for _ in range(3)]
    page.wait_for_selector("#unsaved:has-text('3 changes are not saved yet')")
    served.start()
    page.wait_for_selector("#unsaved", state="hidden")
    wait_saved(page)
    assert statuses(desk, [first, *later]) == ["decided"] * 4
    assert len(desk.log.lines()) == 4


def test_what_was_not_saved_before_a_reload_is_sent_after_it(served, desk, open_page):
    page = open_page(served)
    page.route("**/api/decide", lambda route: route.abort())
    row = press(page, "k")
    page.wait_for_selector("#unsaved:not([hidden])")
    page.goto("about:blank")  # before it could be sent again
    page.unroute("**/api/decide")
    assert statuses(desk, [row]) == ["undecided"]
    page.goto(served.url)
    page.wait_for_selector("body[data-ready]")
    wait_saved(page)
    assert statuses(desk, [row]) == ["decided"]


def test_a_refused_decision_comes_back_in_red(served, desk, open_page):
    page = open_page(served)
    refusal = {
        "status": 400,
        "content_type": "application/json",
        "body": '{"error": "no <b>way</b>"}',
    }
    page.route("**/api/decide", lambda route: route.fulfill(**refusal))
    row = row_of(page)
    page.keyboard.press("k")
    page.wait_for_selector("article.card.red")
    assert row_of(page) == row
    assert "no <b>way</b>" in page.locator(".error").inner_text()
    assert page.locator("#saving").inner_text() == "Not saved: no <b>way</b>"
    page.unroute("**/api/decide")
    page.keyboard.press("k")
    wait_saved(page)
    assert statuses(desk, [row]) == ["decided"]


def test_nothing_in_the_data_is_run(made, serve_desk, tmp_path, open_page):
    from rehead import RobustGaussianClassifier, score_labels

    X, _, noisy, _ = made(80, wrong=0.3)
    names = np.array([f'{i}"><img src=x onerror=alert(2)>.png' for i in range(80)])
    folder = tmp_path / "images"
    folder.mkdir()
    for name in names:
        Image.new("L", (9, 9), 128).save(folder / name)
    model = RobustGaussianClassifier(random_state=0).fit(X, noisy)
    report = score_labels(model, X, noisy, ids=names)
    subject = Subject(report, X, open_shown(names, Looks(images=folder)), "h", tmp_path)
    desk = Desk(subject, tmp_path / "d.sqlite")
    served = serve_desk(desk)
    page = open_page(served, "<img src=x onerror=alert(3)>")
    read = ""
    for key, view in {"p": "pairs", "l": "list", "g": "progress", "r": "review"}.items():
        page.keyboard.press(key)
        wait_view(page, view)
        assert page.locator("main script, main img[src=x], [onerror]").count() == 0
        read += page.locator("main").inner_text()
    press(page, "k")
    wait_saved(page)
    assert "<script>alert(1)</script>" in read  # a label
    assert '"><img src=x onerror=alert(2)>.png' in read  # a file
    desk.close()


def test_after_the_suspects_one_may_go_on_worst_first(served, desk, open_page, decide):
    for row in desk.subject.suspects.tolist():
        decide(desk, shown=Shown(row, "suspect"))
    page = open_page(served)
    page.get_by_text("Go on worst first").click()
    order = [row for row in desk.report.order if row not in set(desk.subject.suspects)]
    wait_row(page, order[0])
    press(page, "k")
    wait_row(page, order[1])
    wait_saved(page)


def test_ten_thousand_suspects_stay_quick(subject_of, serve_desk, tmp_path, open_page):
    subject = subject_of(tmp_path, 12_000)
    given = np.searchsorted(subject.report.classes, subject.report.given)
    others = subject.report.classes[(given + 1) % 3]
    report = replace(subject.report, suggested=others)
    desk = Desk(subject.with_report(report, "h"), tmp_path / "d.sqlite")
    assert len(desk.subject.suspects) == 12_000
    served = serve_desk(desk)
    page = open_page(served)
    for _ in range(5):
        press(page, "s")
    wait_saved(page)
    page.keyboard.press("l")
    wait_view(page, "list")
    assert page.locator(".line").count() < 40
    page.locator(".scroll").focus()
    page.keyboard.press("End")
    last = desk.report.names[desk.rows(Filter())[-1]]
    page.wait_for_selector(f".line[aria-selected=true] .name:text-is('{last}')")
    desk.close()


def test_everything_can_be_reached_and_read(served, open_page):
    """Keyboard alone, names for screen readers, contrast in both themes."""
    for scheme in ("light", "dark"):
        page = open_page(served, color_scheme=scheme)
        for view in ("review", "pairs", "list", "progress"):
            page.goto(f"{served.url}#{view}")
            wait_view(page, view)
            assert page.evaluate(UNNAMED) == []
            assert page.evaluate(PALE) == []
    page.goto(f"{served.url}#review")
    wait_view(page, "review")
    reached = set()
    for _ in range(40):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("document.activeElement.textContent.trim().slice(0, 12)"))
        assert page.evaluate(SEEN)
    page.locator(".choice.given").focus()
    row = row_of(page)
    page.keyboard.press("Enter")
    page.wait_for_selector(f"article.card:not([data-row='{row}'])")
    wait_until(page, "document.activeElement.matches('.choice.given')")
    for text in ("Given: keepK", "Other class", "Out of scope", "Pairs"):
        assert any(text.startswith(found) or found.startswith(text) for found in reached - {""})


@pytest.mark.parametrize("size", [(390, 844), (640, 400)], ids=["a phone", "200 % zoom"])
def test_nothing_is_cut_off_on_small_screens(served, open_page, size):
    page = open_page(served, viewport={"width": size[0], "height": size[1]})
    for view in ("review", "pairs", "list", "progress"):
        page.goto(f"{served.url}#{view}")
        wait_view(page, view)
        assert page.evaluate("document.documentElement.scrollWidth") <= size[0]


def test_help_opens_and_single_keys_can_be_switched_off(served, desk, open_page):
    page = open_page(served)
    page.keyboard.press("?")
    page.wait_for_selector("#help", state="visible")
    page.get_by_label("Single keys decide").uncheck()
    page.keyboard.press("Escape")
    page.wait_for_selector("#help", state="hidden")
    row = row_of(page)
    page.keyboard.press("k")
    page.keyboard.press("ArrowLeft")  # whatever the first key did is done now
    assert row_of(page) == row
    assert page.locator("#saving").inner_text() == ""
    assert re.match("0 of", page.locator("#bar-text").inner_text())
    page.keyboard.press("?")
    page.get_by_label("Single keys decide").check()
    page.keyboard.press("Escape")
    page.wait_for_selector("#help", state="hidden")
    press(page, "k")
    wait_saved(page)
    assert statuses(desk, [row]) == ["decided"]


SEEN = """document.activeElement === document.body
  || getComputedStyle(document.activeElement).outlineStyle !== 'none'"""
UNNAMED = """() => [...document.querySelectorAll("button, a, input, select, img, [role]")]
  .filter((e) => e.checkVisibility() && !(e.ariaLabel || e.textContent.trim() || e.alt
    || e.labels?.length || e.getAttribute("aria-labelledby") || e.matches("[role=status]")))
  .map((e) => e.outerHTML)"""
PALE = """() => {
  const rgb = (text) => {
    const c = text.match(/[\\d.]+/g).map(Number);
    const scale = text.startsWith("color(") ? 255 : 1;
    return [c[0] * scale, c[1] * scale, c[2] * scale, c[3] ?? 1];
  };
  const linear = (v) => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
  const light = ([r, g, b]) => 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
  const behind = (e) => {
    for (; e; e = e.parentElement) {
      const c = rgb(getComputedStyle(e).backgroundColor);
      if (c[3] > 0.99) return c;
    }
    return [255, 255, 255];
  };
  const pale = [];
  for (const e of document.querySelectorAll("body *")) {
    if (!e.checkVisibility() || e.disabled || e.closest(":disabled, .unseen, .skip")) continue;
    if (![...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim())) continue;
    const [a, b] = [light(rgb(getComputedStyle(e).color)), light(behind(e))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) pale.push(`${ratio.toFixed(2)} ${e.textContent.trim().slice(0, 30)}`);
  }
  return pale;
}"""
