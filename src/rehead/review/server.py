"""The web side of the desk: pages, pictures, and an interface of small JSON answers."""

from __future__ import annotations

import asyncio
import errno
import json
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import numpy as np
from jinja2 import Environment, FileSystemLoader
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

import rehead
from rehead.audit.kinds import KINDS
from rehead.files.tables import csv_text
from rehead.report.shown import NotShown
from rehead.review.background import Refitting
from rehead.review.cards import brief, card, progress_card
from rehead.review.decisions import BROWSED, STATUSES, Decision
from rehead.review.desk import Asked, AskedError, Desk
from rehead.review.draws import Shown
from rehead.review.filters import Filter, FilterError, read_filter
from rehead.review.log import Receipt
from rehead.review.thumbnails import Thumbnails
from rehead.review.tickets import TicketError

PAGES = Path(__file__).parent / "pages"
SIZES = {"small": 160, "large": 1024}
"""Pixels of the longer side of pictures."""
MOST_ASKED, MOST_LISTED = 24, 200
"""Samples in one answer: cards, and lines of a list."""


class Pages:
    """Answers requests about one desk.

    Parameters
    ----------
    desk : Desk
    refitting : Refitting
    who : str
        The name that the page proposes to a reviewer.
    """

    def __init__(self, desk: Desk, refitting: Refitting, who: str = "") -> None:
        self.desk, self.refitting, self.who = desk, refitting, who
        self._pictures = Thumbnails()
        templates = Environment(loader=FileSystemLoader(PAGES), autoescape=True)
        self._page = templates.get_template("page.html.j2")

    async def page(self, request: Request) -> Response:
        """The one page."""
        shown = self._page.render(title=self.desk.subject.title, version=rehead.__version__)
        return HTMLResponse(shown)

    async def about(self, request: Request) -> Response:
        """What does not change while the page is open."""
        desk = self.desk
        shown = desk.subject.shown
        return JSONResponse(
            {
                "title": desk.subject.title,
                "samples": len(desk.subject),
                "classes": [str(label) for label in desk.report.classes.tolist()],
                "kinds": list(KINDS),
                "statuses": list(STATUSES),
                "layers": desk.evidence.layers,
                "shows": "none" if shown is None else shown.kind,
                "who": self.who,
                "run": desk.log.secret.hex()[:8],
                "log": str(desk.log.path),
            }
        )

    def next(self, request: Request) -> Response:
        """The next samples for a reviewer."""
        query = request.query_params
        holding = [int(row) for row in query.get("holding", "").split(",") if row.isdecimal()]
        self.desk.catch_up()
        shown = self.desk.next(
            _name(query), _number(query, "n", 4, MOST_ASKED), holding, self._filter(query)
        )
        return JSONResponse({"samples": [card(self.desk, one) for one in shown]})

    def sample(self, request: Request) -> Response:
        """One sample that was opened on purpose."""
        row = self._row(request)
        return JSONResponse(card(self.desk, Shown(row, BROWSED)))

    def listing(self, request: Request) -> Response:
        """A part of the samples that match a filter, worst first."""
        query = request.query_params
        start = _number(query, "start", 0, len(self.desk.subject))
        n = _number(query, "n", 50, MOST_LISTED)
        rows = self.desk.rows(self._filter(query))
        found = [brief(self.desk, int(row)) for row in rows[start : start + n]]
        return JSONResponse({"total": len(rows), "start": start, "samples": found})

    def pairs(self, request: Request) -> Response:
        """Confusions, most undecided first."""
        names = ("given", "suggested", "n", "undecided")
        found = [dict(zip(names, pair, strict=True)) for pair in self.desk.pairs()]
        return JSONResponse({"pairs": found})

    def picture(self, request: Request) -> Response:
        """A sample as WebP."""
        row, size = self._row(request), request.path_params["size"]
        shown = self.desk.subject.shown
        if shown is None or size not in SIZES:
            raise NotShown("There is no such picture.")
        name = self.desk.report.names[row]
        made = self._pictures.get((row, size), lambda: shown.picture(name, SIZES[size]))
        # Its address has the run in it, so it may be kept.
        kept = {"Cache-Control": "private, max-age=86400, immutable"}
        return Response(made, media_type="image/webp", headers=kept)

    def progress(self, request: Request) -> Response:
        """How far the review has come."""
        self.desk.catch_up()
        self.desk.forget_progress()
        return JSONResponse(progress_card(self.desk.progress()))

    async def decide(self, request: Request) -> Response:
        """A decision about one sample; answered when it is on the disk."""
        sent = await _json(request)
        asked = _asked(sent)
        return await self._written(self.desk.decide(asked, _text(sent, "ticket")), asked.client)

    async def batch(self, request: Request) -> Response:
        """One decision about several samples."""
        sent = await _json(request)
        asked, rows = _asked(sent), sent.get("rows")
        if not isinstance(rows, list) or not all(type(row) is int for row in rows):
            raise AskedError("rows must be a list of numbers.")
        return await self._written(self.desk.decide_all(asked, rows), asked.client)

    async def undo(self, request: Request) -> Response:
        """Take back the last decision of a reviewer."""
        sent = await _json(request)
        client = _text(sent, "id")
        return await self._written(self.desk.undo(client, _text(sent, "who")), client)

    async def share(self, request: Request) -> Response:
        """How often samples are drawn at random."""
        sent = await _json(request)
        value = sent.get("value")
        if not isinstance(value, (int, float)) or isinstance(value, bool):
            raise AskedError("value must be a number.")
        client, who = _text(sent, "id"), _text(sent, "who")
        done = self.desk.set_share(client, who, _text(sent, "name"), float(value))
        return await self._written(done, client)

    async def refit(self, request: Request) -> Response:
        """Fit the head again in the background, or ask how far that is."""
        state = self.refitting.start() if request.method == "POST" else self.refitting.state
        return JSONResponse(state._asdict())

    def export(self, request: Request) -> Response:
        """Corrected labels as a table to download."""
        self.desk.catch_up()
        text = csv_text(self.desk.corrected().columns(self.desk.subject.known))
        headers = {"Content-Disposition": 'attachment; filename="corrected.csv"'}
        return Response(text, media_type="text/csv; charset=utf-8", headers=headers)

    async def _written(self, done: Future[Receipt], client: str) -> Response:
        receipt = await asyncio.wrap_future(done)
        if receipt.undone is None and self.desk.counted_lately:
            return self._receipt(receipt, client)  # quicker than to wait for a thread
        return await run_in_threadpool(self._receipt, receipt, client)

    def _receipt(self, receipt: Receipt, client: str) -> Response:
        desk = self.desk
        desk.catch_up()
        undone = [] if receipt.undone is None else desk.standings.of_client(receipt.undone)
        return JSONResponse(
            {
                "id": client,
                "lines": len(receipt.lines),
                "repeated": receipt.repeated,
                "undone": [d.row for d in undone],
                "again": _again(desk, undone),
                "progress": progress_card(desk.progress()),
            }
        )

    def _filter(self, query: Mapping[str, str]) -> Filter:
        return read_filter(query, len(self.desk.report.classes), self.desk.evidence.layers)

    def _row(self, request: Request) -> int:
        row = int(request.path_params["row"])
        if row >= len(self.desk.subject):
            raise NotShown("There is no such sample.")
        return row


def build_app(desk: Desk, *, validation: Any = None, who: str = "") -> Starlette:
    """The application, without the guard at its door."""
    pages = Pages(desk, Refitting(desk, validation), who)
    routes = [
        Route("/", pages.page),
        Route("/api/about", pages.about),
        Route("/api/next", pages.next),
        Route("/api/sample/{row:int}", pages.sample),
        Route("/api/list", pages.listing),
        Route("/api/pairs", pages.pairs),
        Route("/api/progress", pages.progress),
        Route("/api/decide", pages.decide, methods=["POST"]),
        Route("/api/batch", pages.batch, methods=["POST"]),
        Route("/api/undo", pages.undo, methods=["POST"]),
        Route("/api/share", pages.share, methods=["POST"]),
        Route("/api/refit", pages.refit, methods=["GET", "POST"]),
        Route("/export.csv", pages.export),
        Route("/picture/{run}/{row:int}/{size}", pages.picture),
        Mount("/static", StaticFiles(directory=PAGES / "static")),
    ]
    wrong = dict.fromkeys((AskedError, FilterError, TicketError), _answer(400))
    handlers: dict[Any, Callable[[Request, Exception], Awaitable[Response]]] = {
        **wrong,
        NotShown: _answer(404),
        OSError: _answer(503),
    }
    return Starlette(routes=routes, exception_handlers=handlers)


def _again(desk: Desk, undone: list[Decision]) -> dict[str, Any] | None:
    """The card of a single decision that was taken back, shown as it was shown before."""
    if len(undone) != 1:
        return None
    d = undone[0]
    return card(desk, Shown(d.row, d.reason, d.probability))


def _answer(code: int) -> Callable[[Request, Exception], Awaitable[Response]]:
    async def answer(request: Request, error: Exception) -> Response:
        full = isinstance(error, OSError) and error.errno == errno.ENOSPC
        text = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        return JSONResponse({"error": text}, 507 if full else code)

    return answer


async def _json(request: Request) -> dict[str, Any]:
    try:
        sent = json.loads(await request.body())
    except ValueError as error:
        raise AskedError(f"This is not JSON: {error}.") from error
    if not isinstance(sent, dict):
        raise AskedError("The request must be an object.")
    return sent


def _asked(sent: Mapping[str, Any]) -> Asked:
    label = sent.get("label")
    if label is not None and type(label) is not int:
        raise AskedError("label must be the number of a class.")
    return Asked(_text(sent, "id"), _text(sent, "who"), _text(sent, "action"), label)


def _text(sent: Mapping[str, Any], name: str) -> str:
    value = sent.get(name)
    if not isinstance(value, str):
        raise AskedError(f"{name} must be text.")
    return value


def _name(query: Mapping[str, str]) -> str:
    return query.get("who", "").strip() or "?"


def _number(query: Mapping[str, str], name: str, default: int, most: int) -> int:
    text = query.get(name, str(default))
    if not text.isdecimal():
        raise AskedError(f"{name} must be a number.")
    return int(np.clip(int(text), 0, most))
