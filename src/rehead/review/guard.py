"""Who may talk to the page: this browser, from this page, and nobody else.

Any web page can send requests to a port of this machine, and a name can be made to point to it. So
a request must carry the token (once, in its address; then as a cookie that other sites cannot
send), name the host that was opened (against rebinding of names), and, where it changes something,
come from the page itself.
"""

from __future__ import annotations

import hmac
from collections.abc import Iterable

from starlette.datastructures import Headers, MutableHeaders, QueryParams
from starlette.requests import cookie_parser
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

COOKIE, TOKEN = "rehead_review", "token"
LARGEST_BODY = 2**20
"""Bytes of a request."""
HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
"""Of every answer: nothing but our own scripts is run, wherever a label is put."""


class Guard:
    """Lets requests through that come from the page.

    Parameters
    ----------
    app : ASGI application
    token : str
    hosts : iterable of str
        Names and addresses under which the page may be asked for, with their port.
    """

    def __init__(self, app: ASGIApp, token: str, hosts: Iterable[str]) -> None:
        self.app, self.token = app, token
        self.hosts = {host.lower() for host in hosts}
        port = next(iter(self.hosts)).rpartition(":")[2]
        # Cookies do not tell ports apart: two pages on one machine would take each other's.
        self.cookie = f"{COOKIE}_{port}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or have it answered."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            return
        refusal = self._refusal(scope)
        if refusal is not None:
            await refusal(scope, receive, _with_headers(send))
            return
        await self.app(scope, receive, _with_headers(send))

    def _refusal(self, scope: Scope) -> Response | None:
        headers = Headers(scope=scope)
        if headers.get("host", "").lower() not in self.hosts:
            return PlainTextResponse("This is not the address of the page.", 421)
        if not self._same_origin(headers):
            return PlainTextResponse("Only the page itself may ask.", 403)
        if int(headers.get("content-length") or 0) > LARGEST_BODY:
            return PlainTextResponse("The request is too large.", 413)
        if scope["method"] not in ("GET", "HEAD") and (
            headers.get("origin") is None or "content-length" not in headers
        ):
            return PlainTextResponse("Only the page itself may ask.", 403)
        cookies = cookie_parser(headers.get("cookie", ""))
        if self._is_token(cookies.get(self.cookie, "")):
            return None
        return self._welcome(scope)

    def _same_origin(self, headers: Headers) -> bool:
        """Whether a browser says that the request comes from the page, or from nowhere else."""
        origin = headers.get("origin")
        if origin is not None and origin.lower() not in {f"http://{h}" for h in self.hosts}:
            return False
        # A link in another program is "none"; a link on another site may only open the page.
        return headers.get("sec-fetch-site", "none") in ("same-origin", "none")

    def _welcome(self, scope: Scope) -> Response:
        """A visitor without the cookie: who has the token in the address gets it."""
        given = QueryParams(scope["query_string"]).get(TOKEN, "")
        if scope["path"] != "/" or scope["method"] != "GET" or not self._is_token(given):
            return PlainTextResponse(
                "Open the address that `rehead review` printed: it has a token in it.", 403
            )
        answer = RedirectResponse("/", 303)
        answer.set_cookie(self.cookie, self.token, httponly=True, samesite="strict", path="/")
        return answer

    def _is_token(self, given: str) -> bool:
        return hmac.compare_digest(given.encode(), self.token.encode())


def _with_headers(send: Send) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers[name] = value
            headers.setdefault("Cache-Control", "no-store")
        await send(message)

    return sending
