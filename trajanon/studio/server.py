"""The server of the studio, for this machine alone."""

import asyncio
import logging
import socket
import webbrowser
from contextlib import suppress
from http import HTTPStatus
from pathlib import Path
from secrets import compare_digest, token_urlsafe
from tempfile import gettempdir

from fastapi import Request, Response
from fastapi.responses import FileResponse, PlainTextResponse, RedirectResponse
from nicegui import app, background_tasks, ui
from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Receive, Scope, Send

from trajanon.atomic_output import drafting, replacing
from trajanon.cli.messages import tell
from trajanon.cli.options import MAP
from trajanon.errors import FileProblem
from trajanon.studio.studio_page import Page
from trajanon.studio.work import PAGE, Commands, Work

MOST = 1_000_000_000  # bytes that come through the browser


def serve(files: list[Path], commands: Commands, *, browser: bool) -> None:
    """Serve the studio until it is ended, by its page or by Ctrl-C; then remove its folder."""
    # As an output that is never done: what a killed studio left is removed by the next one.
    with drafting(Path(gettempdir()) / "trajanon-studio") as draft:
        (draft.path / "files").mkdir(parents=True)
        work = Work(draft.path, commands)
        work.files += [str(file.resolve()) for file in files]
        _serve(work, browser=browser)


def _serve(work: Work, *, browser: bool) -> None:
    page = Page(work)
    ui.page("/", title="trajanon studio")(page.show)
    app.get("/out/{name}")(lambda name: _out(work, name))

    @app.put("/files/{name}")
    async def bring(name: str, request: Request) -> Response:
        await _bring(work, name, request)
        page.files.refresh()
        return Response()

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    secret = token_urlsafe(32)  # too long to guess
    app.add_middleware(Guard, port=port, secret=secret)
    address = f"http://127.0.0.1:{port}/?key={secret}"

    async def announce() -> None:
        while True:  # the startup event comes before the socket listens
            with suppress(OSError):
                (await asyncio.open_connection("127.0.0.1", port))[1].close()
                break
            await asyncio.sleep(0.05)
        tell(f"Open {address} in a browser of this machine. Ctrl-C ends it.")
        if browser:
            webbrowser.open(address)

    app.on_startup(lambda: background_tasks.create(announce()))
    app.on_shutdown(work.end)
    logging.getLogger("nicegui").setLevel(logging.ERROR)  # it warns of slow machines
    ui.run(
        host="127.0.0.1",
        port=port,
        language="en-US",
        binding_refresh_interval=0.25,
        show=False,
        reload=False,
        show_welcome_message=False,
        uvicorn_logging_level="error",
    )


def _out(work: Work, name: str) -> Response:
    if name == "settings.toml" and work.released:
        return PlainTextResponse(work.settings)
    file = work.folder / name
    if name not in {PAGE, str(MAP), *work.offered} or not file.exists():
        return PlainTextResponse("There is no such file.", HTTPStatus.NOT_FOUND)
    # A page made of other people's files may not act as the studio.
    return FileResponse(file, headers={"Content-Security-Policy": "sandbox allow-scripts"})


async def _bring(work: Work, name: str, request: Request) -> None:
    """Take a file that comes through the browser."""
    work.trouble = ""
    if int(request.headers.get("x-bytes", "0")) > MOST:
        work.trouble = f"{name} is over a gigabyte: give its path instead."
        return
    try:
        with replacing(work.folder / "files" / name) as (draft,), draft.open("wb") as file:
            async for piece in request.stream():
                file.write(piece)
    except FileProblem as error:
        work.trouble = f"{name} could not be kept: {error}"
        return
    work.bring(f"files/{name}")


class Guard:
    """Refuses all but pages of the studio, by a secret in the address, by Host and by Origin."""

    def __init__(self, app: ASGIApp, port: int, secret: str) -> None:
        self.app, self.port, self.secret = app, port, secret
        self.cookie = f"trajanon-{port}"  # cookies do not tell ports apart

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on what may come in."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        answer = self._answer(HTTPConnection(scope))
        if answer is None:
            await self.app(scope, receive, send)
        elif scope["type"] == "http":
            await answer(scope, receive, send)
        else:
            await send({"type": "websocket.close", "code": 1008})

    def _answer(self, asked: HTTPConnection) -> Response | None:
        """Give what is said in place of the page; None to one of ours."""
        host, origin = asked.headers.get("host"), asked.headers.get("origin")
        own = {f"{name}:{self.port}" for name in ("127.0.0.1", "localhost")}
        if host not in own or origin not in (None, f"http://{host}"):
            return PlainTextResponse("This page is for its own machine.", HTTPStatus.FORBIDDEN)
        if self._is(asked.query_params.get("key")):
            inside = RedirectResponse("/", HTTPStatus.SEE_OTHER)
            inside.set_cookie(self.cookie, self.secret, httponly=True, samesite="strict")
            return inside
        if self._is(asked.cookies.get(self.cookie)):
            return None
        text = "Open the address that trajanon studio printed: it holds the key."
        return PlainTextResponse(text, HTTPStatus.FORBIDDEN)

    def _is(self, given: str | None) -> bool:
        return given is not None and compare_digest(given.encode(), self.secret.encode())
