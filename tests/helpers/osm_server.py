"""A server on this computer that answers as the OSM API does, and fails on demand."""

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from urllib.parse import parse_qsl, quote, urlsplit

EMPTY_PAGE = (
    b'<?xml version="1.0" encoding="UTF-8"?>\n'
    b'<gpx version="1.0" creator="OpenStreetMap.org" '
    b'xmlns="http://www.topografix.com/GPX/1/0">\n</gpx>\n'
)


LINK = "{url}/api/0.6/trackpoints?bbox={bbox}&cursor={cursor}"
"""How a newer server names the next page: its cursors may hold two dashes."""


@dataclass(frozen=True)
class Fault:
    """What the server does instead of sending a page.

    With `cut`, it promises the whole body and closes the connection in the middle;
    with `hang_up`, it closes the connection without a word.
    """

    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    cut: bool = False
    hang_up: bool = False


@dataclass(frozen=True)
class Request:
    page: int  # its number; also that of a cursor
    query: Mapping[str, str]
    bbox: str
    path: str
    headers: Message
    time: float


@dataclass
class OsmServer:
    """Pages by number (empty ones after the last), and faults that come before.

    `faults` are used up in order, one a request; None stands for a proper answer. With `link`, a
    request without a page is answered with the address of the next one, as newer servers do.
    """

    pages: Sequence[bytes] = ()
    link: str = ""  # such as LINK
    faults: list[Fault | None] = field(default_factory=list)
    requests: list[Request] = field(default_factory=list)
    url: str = ""

    @property
    def asked_for(self) -> list[int]:
        return [request.page for request in self.requests]

    def answer(self, page: int, query: Mapping[str, str]) -> Fault:
        fault = self.faults.pop(0) if self.faults else None
        if fault is not None:
            return fault
        body = self.pages[page] if page < len(self.pages) else EMPTY_PAGE
        headers = {"Content-Type": "application/gpx+xml"}
        if self.link and "page" not in query and page + 1 < len(self.pages):
            bbox = quote(query["bbox"])
            following = self.link.format(url=self.url, bbox=bbox, cursor=f"MjAwfD--{page + 1}")
            headers["Link"] = f'<{following}>; rel="next"'
        return Fault(headers=headers, body=body)


@contextmanager
def serving(server: OsmServer) -> Iterator[OsmServer]:
    """Let the server listen on 127.0.0.1 at a free port."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            query = dict(parse_qsl(urlsplit(self.path).query))
            cursor = query.get("cursor", "").rpartition("--")[2]
            page = int(query.get("page") or cursor or 0)
            path = urlsplit(self.path).path
            arrived = time.monotonic()
            request = Request(page, query, query.get("bbox", ""), path, self.headers, arrived)
            server.requests.append(request)
            answer = server.answer(page, query)
            self.close_connection = answer.cut or answer.hang_up
            if answer.hang_up:
                return
            body = answer.body
            self.send_response(answer.status)
            for name, value in answer.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body[: len(body) // 2] if answer.cut else body)

        def log_message(self, format: str, *args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as http:
        http.daemon_threads = True
        server.url = f"http://127.0.0.1:{http.server_address[1]}"
        thread = Thread(target=http.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        try:
            yield server
        finally:
            http.shutdown()
            thread.join()
