"""Cards of samples."""

import numpy as np

from rehead.report import gallery
from rehead.report.gallery import Album
from rehead.report.shown import Looks, open_shown


def album(report, room=gallery.BYTES, **looks):
    shown = open_shown(report.names, Looks(**looks))
    return Album(report, shown, np.full(len(report), -1), room)


def test_a_card_tells_what_the_report_does(judged):
    report, _, truth = judged(labels=["a", "b", "c"], ids=[f"s{i}" for i in range(300)])
    row = int(report.order[0])
    codes = np.searchsorted(report.classes, truth)
    card = Album(report, None, codes).cards([row])[0]
    assert (card.name, card.given, card.suggested) == (f"s{row}", report.given[row], truth[row])
    assert card.true == truth[row]
    assert card.is_wrong
    assert not card.is_right
    assert card.quality == report.quality[row]


def test_texts_and_rows_are_cut(judged):
    report, _, _ = judged()
    texts = ["long " * 200] * 299 + [""]
    cards = album(report, texts=texts).cards([0, 299])
    assert len(cards[0].text) == gallery.LONGEST_TEXT
    assert cards[1].text == "(blank)"
    wide = {f"column {i}": np.full(300, "x" * 99) for i in range(20)}
    cells = album(report, table=wide).cards([0])[0].cells
    assert len(cells) == gallery.MOST_CELLS + 1
    assert cells[-1] == ("…", "12 more columns")
    assert len(cells[0][1]) == gallery.LONGEST_CELL


def test_pictures_end_where_there_is_no_more_room(judged):
    report, _, _ = judged()
    images = np.random.default_rng(0).integers(255, size=(300, 64, 64), dtype=np.uint8)
    made = album(report, room=20_000, images=images)
    cards = made.cards(range(20))
    shown = [card for card in cards if card.picture]
    assert 0 < len(shown) < 20
    assert sum(len(card.picture) for card in shown) <= 20_000
    assert made.left_out == 20 - len(shown)
    assert all(card.problem for card in cards if not card.picture)
    assert shown[0].tiny
    made.cards([shown[0].row])  # is there already, and takes no room
    assert made.left_out == 20 - len(shown)
