"""A server on this machine that behaves badly in several ways."""

import hashlib
import http.server
import time

import numpy as np

CONTENT = np.random.default_rng(0).bytes(300_000)
SHA256 = hashlib.sha256(CONTENT).hexdigest()


class Server(http.server.ThreadingHTTPServer):
    """Gives CONTENT; tests set how."""

    ranges = True
    breaks_after = None
    breaks = 0
    status = None
    content = CONTENT
    redirect = None
    endless = False
    """Say no length, and never end."""
    pause = None
    """Seconds between single bytes: of the content, or of the header."""
    slow = "content"

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.asked, self.sent = [], 0

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_port}/some.bin"


class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *args):
        pass

    def do_GET(self):
        server, wanted = self.server, self.headers.get("Range")
        server.asked.append(wanted)
        if server.pause is not None and server.slow == "header":
            self.trickle(b"HTTP/1.0 200 OK and nothing more to say " * 99)
            return
        if server.status or server.redirect:
            self.send_response(server.status or 302)
            if server.redirect:
                self.send_header("Location", server.redirect)
            self.end_headers()
            return
        start = int(wanted.removeprefix("bytes=").rstrip("-")) if wanted and server.ranges else 0
        total = len(server.content)
        if start >= total:
            self.send_error(416)
            return
        self.send_response(206 if start else 200)
        if start:
            self.send_header("Content-Range", f"bytes {start}-{total - 1}/{total}")
        if not server.endless:
            self.send_header("Content-Length", str(total - start))
        self.end_headers()
        body = server.content[start:]
        if server.pause is not None:
            self.trickle(body)
            return
        if server.breaks:
            server.breaks -= 1
            body = body[: server.breaks_after]
        self.wfile.write(body)
        while server.endless:
            try:
                server.sent += self.wfile.write(b"x" * 100_000)
            except OSError:  # the client has left
                return

    def trickle(self, content):
        """One byte at a time, for as long as someone listens."""
        try:
            for byte in content:
                self.wfile.write(bytes([byte]))
                self.wfile.flush()
                time.sleep(self.server.pause)
        except OSError:
            return
