"""``rehead review``: a server on this machine, and a browser that opens its page."""

from __future__ import annotations

import errno
import getpass
import secrets
import signal
import socket
import threading
import webbrowser
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from rehead.files.lock import FolderLock, LockedError
from rehead.review.desk import Desk
from rehead.review.subject import DECISIONS, Subject

PORT = 8723
"""Where the page is found, if no other is named; the next free one is taken."""
TRIED = 20
"""Ports that are tried."""
LOOPBACK = ("127.0.0.1", "localhost", "::1")


class Address(NamedTuple):
    """Where the page is to be found.

    Attributes
    ----------
    host : str
        127.0.0.1: nobody but this machine can reach it.
    port : int or None
        None: the first free one from 8723 on.
    """

    host: str = "127.0.0.1"
    port: int | None = None


def serve(
    subject: Subject,
    log: str | Path | None = None,
    *,
    address: Address = Address(),  # noqa: B008  (a value that nobody can change)
    other_head: bool = False,
    validation: Any = None,
    browser: bool = True,
    tell: Callable[[str], None] = print,
) -> None:
    """Serve the review page until it is interrupted.

    Parameters
    ----------
    subject : Subject
        What is reviewed, from :func:`rehead.review.open_subject`.
    log : path, optional
        Where decisions are kept. Default: decisions.sqlite beside the head.
    address : Address
    other_head : bool, default=False
        Go on with decisions that were made with another head.
    validation : (layers, labels), optional
        Held-out samples, for fitting the head again from the page.
    browser : bool, default=True
        Open the page.
    tell : function of str
        Is told the address.
    """
    uvicorn = _uvicorn()
    from rehead.review.guard import TOKEN, Guard
    from rehead.review.server import build_app

    path = Path(log) if log is not None else subject.beside / DECISIONS
    lock = only_page_of(path)
    desk = Desk(subject, path, other_head=other_head)
    try:
        listening = listen(address)
        port = listening.getsockname()[1]
        token = secrets.token_urlsafe(24)
        app = build_app(desk, validation=validation, who=_user())
        guarded = Guard(app, token, hosts_of(address.host, port))
        url = f"http://{_in_url(address.host)}:{port}/?{TOKEN}={token}"
        tell(f"Decisions: {path}")
        tell(f"The page: {url}")
        tell("Ctrl+C ends it; decisions are safe at any moment.")
        if browser:
            webbrowser.open(url)
        config = uvicorn.Config(guarded, log_level="warning", access_log=False, lifespan="off")
        with ended_in_order():
            uvicorn.Server(config).run(sockets=[listening])
    finally:
        desk.close()
        lock.release()


def _leave(number: int, frame: object) -> None:
    """The server has ended by then: it sends itself the signal again."""
    raise KeyboardInterrupt


def _like_kill(number: int, frame: object) -> None:
    signal.raise_signal(signal.SIGTERM)  # which the server listens to


ENDS = {signal.SIGTERM: _leave}
"""What is done when `kill`, or a terminal that is closed, ends the program."""
if hasattr(signal, "SIGHUP"):
    ENDS[signal.SIGHUP] = _like_kill


@contextmanager
def ended_in_order() -> Iterator[None]:
    """Meanwhile `kill` and a closed terminal end the program as Ctrl+C does.

    The log is closed then, and is one file again. Else the last decisions would be in the file
    that SQLite keeps beside it, and missing from a copy of the log alone.
    """
    own = threading.current_thread() is threading.main_thread()  # others must not set signals
    caught = {end for end in ENDS if own and signal.getsignal(end) is signal.SIG_DFL}
    for end in caught:
        signal.signal(end, ENDS[end])
    try:
        yield
    finally:
        for end in caught:
            signal.signal(end, signal.SIG_DFL)


def only_page_of(log: Path) -> FolderLock:
    """One page for each file of decisions: a second one would not see at once what the first saves.

    Raises
    ------
    LockedError
        If there is one already.
    PermissionError
        If the folder is read-only.
    """
    if not log.parent.is_dir():
        raise FileNotFoundError(f"There is no folder {log.parent} for {log.name}. Make it first.")
    try:
        return FolderLock(log.parent, f".{log.name}.lock")
    except LockedError as error:
        raise LockedError(
            f"Another `rehead review` has {log} open. Use its page: several people can share it. "
            "Or end it first, or keep decisions elsewhere with --log."
        ) from error
    except PermissionError as error:
        raise PermissionError(
            f"The folder {log.parent} cannot be written: decisions would be lost. Make it "
            "writable, or keep decisions elsewhere: --log FILE."
        ) from error


def listen(address: Address) -> socket.socket:
    """A socket at a port that is free.

    Raises
    ------
    OSError
        If the port that was asked for is in use.
    """
    tried = [address.port] if address.port is not None else range(PORT, PORT + TRIED)
    for port in tried:
        family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
        listening = socket.socket(family, socket.SOCK_STREAM)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind((address.host, port))
            listening.listen(128)
        except OSError as error:
            listening.close()
            if error.errno != errno.EADDRINUSE:
                raise OSError(
                    f"Cannot listen at {address.host}:{port}: {error.strerror}."
                ) from error
            continue
        return listening
    which = f"port {tried[0]} is" if len(tried) == 1 else f"ports {PORT} to {PORT + TRIED - 1} are"
    raise OSError(
        f"The {which} in use, perhaps by another review. Choose another with --port, or 0 for any."
    )


def hosts_of(host: str, port: int) -> list[str]:
    """Names under which the page may be asked for.

    Examples
    --------
    >>> hosts_of("127.0.0.1", 80)
    ['127.0.0.1:80', 'localhost:80', '[::1]:80']
    """
    names = LOOPBACK if host in LOOPBACK else (host,)
    return [f"{_in_url(name)}:{port}" for name in names]


def _in_url(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # no name, as in some containers
        return ""


def _uvicorn() -> Any:
    try:
        import starlette  # noqa: F401
        import uvicorn
    except ImportError:
        raise ImportError(
            'The review page needs Starlette and uvicorn. Install: pip install "rehead[review]"'
        ) from None
    return uvicorn
