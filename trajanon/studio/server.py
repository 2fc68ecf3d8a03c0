"""The server of the studio, for this machine alone."""

import shutil
import socket
import webbrowser
from pathlib import Path
from tempfile import mkdtemp

from fastapi import Request, Response
from fastapi.responses import FileResponse, PlainTextResponse
from nicegui import app, ui

from trajanon.cli.options import MAP
from trajanon.cli.wording import tell
from trajanon.studio.fields import FILES
from trajanon.studio.guard import Guard, new_secret
from trajanon.studio.page import Page
from trajanon.studio.work import COMPARISON, PAGE, Commands, Work

_MOST = 1_000_000_000  # bytes that come through the browser


def serve(files: list[Path], commands: Commands, *, browser: bool) -> None:
    """Serve the studio until it is ended, by its page or by Ctrl-C; then remove its folder."""
    folder = Path(mkdtemp(prefix="trajanon-studio-"))
    (folder / "files").mkdir()
    work = Work(folder, commands)
    work.files += [str(file.resolve()) for file in files]
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
    secret = new_secret()
    app.add_middleware(Guard, port=port, secret=secret)
    address = f"http://127.0.0.1:{port}/?key={secret}"

    def begun() -> None:
        tell(f"Open {address} in a browser of this machine. Ctrl-C ends it.")
        if browser:
            webbrowser.open(address)

    app.on_startup(begun)
    app.on_shutdown(work.cancel)
    try:
        ui.run(
            host="127.0.0.1",
            port=port,
            show=False,
            reload=False,
            show_welcome_message=False,
            uvicorn_logging_level="error",
        )
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _out(work: Work, name: str) -> Response:
    """Give what commands wrote, and the settings."""
    if name == "settings.toml":
        return PlainTextResponse(work.settings)
    sheet = f"{Path(work.released).stem}.datasheet.md"
    file = work.folder / name
    if name not in {PAGE, COMPARISON, str(MAP), work.released, sheet} or not file.exists():
        return PlainTextResponse("There is no such file.", 404)
    return FileResponse(file)


async def _bring(work: Work, name: str, request: Request) -> None:
    """Take a file that comes through the browser."""
    name = Path(name).name
    work.trouble[FILES] = ""
    if int(request.headers.get("x-bytes", "0")) > _MOST:
        work.trouble[FILES] = f"{name} is over a gigabyte: give its path instead."
        return
    brought = work.folder / "files" / name
    try:
        with brought.open("wb") as file:
            async for piece in request.stream():
                file.write(piece)
    except OSError as error:
        brought.unlink(missing_ok=True)
        work.trouble[FILES] = f"{name} could not be kept: {error.strerror}."
        return
    work.bring(f"files/{name}")
