"""The server of the studio, for this machine alone."""

import asyncio
import logging
import re
import socket
import webbrowser
from contextlib import suppress
from http import HTTPStatus
from pathlib import Path
from secrets import compare_digest, token_hex, token_urlsafe
from string import Template
from tempfile import gettempdir
from urllib.parse import parse_qs

from fastapi import Request, Response
from fastapi.responses import FileResponse, HTMLResponse, PlainTextResponse
from nicegui import app, background_tasks, ui
from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Receive, Scope, Send

from trajanon.cli.messages import tell
from trajanon.cli.options import MAP
from trajanon.common.atomic_output import drafting, replacing
from trajanon.common.errors import FileProblem
from trajanon.studio.form_to_commands import DOOR, EVALUATION_PAGE, SETTINGS, UPLOADS, Commands
from trajanon.studio.running_commands import Problem, Work
from trajanon.studio.studio_page import Page

LARGEST_UPLOAD = 1_000_000_000  # bytes; larger files are named by their paths

_DOOR = Template((Path(__file__).parent / "door.html").read_text(encoding="utf-8"))
_LONGEST_CODE = 1_000  # bytes of what is sent to the door
_UNREADABLE = "unreadable"  # what the page says in place of a size
_SIZE = re.compile(f"[0-9]{{1,18}}|{_UNREADABLE}")


def serve(files: list[Path], commands: Commands, *, browser: bool) -> None:
    """Serve the studio until it is ended, by its page or by Ctrl-C; then remove its folder."""
    # As an output that is never done: what a killed studio left is removed by the next one.
    with drafting(Path(gettempdir()) / "trajanon-studio") as draft:
        (draft.path / UPLOADS).mkdir(parents=True)
        work = Work(draft.path, commands)
        for file in files:
            work.bring(str(file.resolve()))
        _serve(work, browser=browser)


def _serve(work: Work, *, browser: bool) -> None:
    """Serve the page of some work on a free port, and open it, if asked to, in the browser."""
    page = Page(work)
    ui.page("/", title="trajanon studio")(page.show)
    app.get("/out/{name}")(lambda name: _file_shown(work, name))

    @app.put("/files/{name}")
    async def bring(name: str, request: Request) -> Response:
        answer = await _uploaded(work, name, request)
        page.refresh()
        return answer

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    address = f"http://127.0.0.1:{port}"
    code = token_hex(10)  # too long to guess, short enough to copy
    app.add_middleware(Guard, port=port, code=code)

    # Other users of the machine read the browser's command line: it names a file that only its
    # owner can read, and this file sends the code.
    door = work.form.folder / DOOR
    door.touch(mode=0o600)
    send_it = "<script>document.forms[0].submit()</script>"
    door.write_text(_DOOR.substitute(address=address, code=code, script=send_it), encoding="utf-8")

    async def announce() -> None:
        """Print the address, and open the page, as soon as the socket listens."""
        while True:  # the startup event comes before that
            with suppress(OSError):
                (await asyncio.open_connection("127.0.0.1", port))[1].close()
                break
            await asyncio.sleep(0.05)
        tell(f"Open {address} in a browser on this machine; its code is {code}. Ctrl-C ends it.")
        if browser:
            webbrowser.open(door.as_uri())

    app.on_startup(lambda: background_tasks.create(announce()))
    app.on_shutdown(work.end)
    logging.getLogger("nicegui").setLevel(logging.ERROR)  # it warns of slow machines
    ui.run(
        host="127.0.0.1",
        port=port,
        language="en-US",
        binding_refresh_interval=0.25,
        reconnect_timeout=60.0,  # a page that was asleep, or busy, is not loaded anew
        show=False,
        reload=False,
        show_welcome_message=False,
        uvicorn_logging_level="error",
    )


def _file_shown(work: Work, name: str) -> Response:
    """Return a file that the page shows, or that can be saved."""
    to_save = work.results.files_to_save
    if name == SETTINGS and to_save:
        return PlainTextResponse(work.form.settings_file)
    file = work.form.folder / name
    if name not in {EVALUATION_PAGE, str(MAP), *to_save} or not file.exists():
        return PlainTextResponse("There is no such file.", HTTPStatus.NOT_FOUND)

    headers = {
        # A page made of other people's files may not act as the studio.
        "Content-Security-Policy": "sandbox allow-scripts",
        "Cache-Control": "no-store",  # the next release has pages of the same names
    }
    return FileResponse(file, headers=headers)


async def _uploaded(work: Work, name: str, request: Request) -> Response:
    """Take a file that comes through the browser, up to a gigabyte, whatever its headers say.

    Of several files chosen together, all that could not be stored are named.
    """
    if request.headers.get("x-first") != "false":
        work.problem = None
    announced = request.headers.get("x-bytes", "0")
    if not name.isprintable() or not _SIZE.fullmatch(announced):
        wrong = "A name has no control characters, and x-bytes is a number of bytes."
        return PlainTextResponse(wrong, HTTPStatus.BAD_REQUEST)

    size = 0
    refused = HTTPStatus.INSUFFICIENT_STORAGE
    try:
        with replacing(work.form.folder / UPLOADS / name) as (draft,), draft.open("wb") as file:
            if announced == _UNREADABLE:
                raise FileProblem("the browser cannot read it")
            async for piece in request.stream():
                size += len(piece)
                if max(size, int(announced)) > LARGEST_UPLOAD:
                    refused = HTTPStatus.REQUEST_ENTITY_TOO_LARGE
                    raise FileProblem("it is over a gigabyte: enter its path instead")
                file.write(piece)
    except FileProblem as error:
        sentence = f"{name} could not be stored: {error}"
        before = "" if work.problem is None else f"{work.problem.sentence}. "
        work.problem = Problem(f"{before}{sentence}", "files")
        return PlainTextResponse(sentence, refused)
    work.bring(f"{UPLOADS}/{name}")
    return Response()


class Guard:
    """Refuses all but pages of the studio, by a cookie, by Host and by Origin.

    The cookie is given to whoever posts the code. No address ever holds either of them.
    """

    def __init__(self, app: ASGIApp, port: int, code: str) -> None:
        self.app = app
        self.port = port
        self.code = code
        self.cookie = f"trajanon-{port}"  # cookies do not tell ports apart
        self.secret = token_urlsafe(32)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on what may come in."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return

        request = HTTPConnection(scope)
        enters = scope["type"] == "http" and (scope["method"], scope["path"]) == ("POST", "/enter")
        if not self._is_from_here(request, enters=enters):
            answer: Response = PlainTextResponse(
                "This page opens on its own machine only.", HTTPStatus.FORBIDDEN
            )
        elif enters:
            answer = await self._entered(Request(scope, receive))
        elif _is_equal(request.cookies.get(self.cookie), self.secret):
            await self.app(scope, receive, send)
            return
        else:
            answer = _asks_for_code()

        if scope["type"] == "http":
            await answer(scope, receive, send)
        else:
            await send({"type": "websocket.close", "code": 1008})

    def _is_from_here(self, request: HTTPConnection, *, enters: bool) -> bool:
        """Return whether no other site asks; a file, of origin "null", may only send the code."""
        host = request.headers.get("host")
        origin = request.headers.get("origin")
        if host not in (f"127.0.0.1:{self.port}", f"localhost:{self.port}"):
            return False
        return origin in (None, f"http://{host}") or (enters and origin == "null")

    async def _entered(self, request: Request) -> Response:
        """Let in whoever posts the code."""
        sent = b""
        async for piece in request.stream():
            sent += piece
            if len(sent) > _LONGEST_CODE:
                return _asks_for_code()
        (code,) = parse_qs(sent.decode(errors="replace")).get("code", [""])[:1]
        if not _is_equal(code.strip(), self.code):
            return _asks_for_code()

        # A redirection would come from the file, and browsers would keep the cookie from it.
        inside = HTMLResponse('<script>location.replace("/")</script>')
        inside.set_cookie(self.cookie, self.secret, httponly=True, samesite="strict")
        return inside


def _asks_for_code() -> Response:
    """Return the page that asks for the code."""
    page = _DOOR.substitute(address="", code="", script="")
    return HTMLResponse(page, HTTPStatus.FORBIDDEN)


def _is_equal(given: str | None, secret: str) -> bool:
    """Compare a text with a secret in a time that tells nothing of it."""
    return given is not None and compare_digest(given.encode(), secret.encode())
