"""Who may talk to the studio: the browser that opened its address, and nobody else."""

from http import HTTPStatus
from secrets import compare_digest

from starlette.requests import HTTPConnection
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send


class Guard:
    """Refuses what does not come from a page of the studio itself.

    The address that is opened holds a secret, which becomes a cookie. Host keeps out names that
    somebody else lets point to this machine, Origin keeps out pages of others.
    """

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
