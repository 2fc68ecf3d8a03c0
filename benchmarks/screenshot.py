"""Photograph a map without internet.

The map's libraries are answered from a folder of npm packages, its tiles not at all:

    pip install playwright          # no browser is downloaded: Debian's chromium
    npm install leaflet@1.9.3 jquery@3.7.1 bootstrap@5.2.2 \
        leaflet.awesome-markers@2.0.5 @fortawesome/fontawesome-free@6.2.0
    python benchmarks/screenshot.py map.html map.png --assets node_modules

With --hover X,Y the mouse waits there, in pixels, for a tooltip. What the page writes
on its console is printed, refused tiles left out; any of it makes the exit code 1.
"""

import argparse
import sys
from pathlib import Path

from playwright.sync_api import ConsoleMessage, Page, Route, sync_playwright

CHROMIUM = "/usr/bin/chromium"
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-sync",
    "--disable-background-networking",
    "--disable-component-update",
]

# The last part of an address, and the file that answers it.
ASSETS = {
    "leaflet.js": "leaflet/dist/leaflet.js",
    "leaflet.css": "leaflet/dist/leaflet.css",
    "jquery-3.7.1.min.js": "jquery/dist/jquery.min.js",
    "bootstrap.bundle.min.js": "bootstrap/dist/js/bootstrap.bundle.min.js",
    "bootstrap.min.css": "bootstrap/dist/css/bootstrap.min.css",
    "leaflet.awesome-markers.js": (
        "leaflet.awesome-markers/dist/leaflet.awesome-markers.js"
    ),
    "leaflet.awesome-markers.css": (
        "leaflet.awesome-markers/dist/leaflet.awesome-markers.css"
    ),
    "all.min.css": "@fortawesome/fontawesome-free/css/all.min.css",
}
UNUSED = ("bootstrap-glyphicons.css", "leaflet.awesome.rotate.min.css")  # not on npm


def pair(text: str, separator: str) -> tuple[int, int]:
    first, second = text.split(separator)
    return int(first), int(second)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("map", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--assets", type=Path, required=True, metavar="FOLDER")
    parser.add_argument(
        "--size", type=lambda text: pair(text, "x"), default=(1280, 800)
    )
    parser.add_argument("--hover", type=lambda text: pair(text, ","), metavar="X,Y")
    return parser.parse_args()


def answer(route: Route, assets: Path) -> None:
    """Give a file from disk, or nothing."""
    address = route.request.url
    if address.startswith(("file:", "data:")):
        route.continue_()
        return
    name = address.rsplit("/", 1)[-1]
    if name in ASSETS:
        route.fulfill(path=assets / ASSETS[name])
    elif name in UNUSED:
        route.fulfill(body="", content_type="text/css")
    else:
        route.abort()


def listen(page: Page) -> list[str]:
    complaints: list[str] = []

    def console(message: ConsoleMessage) -> None:
        if message.type in ("error", "warning") and "ERR_FAILED" not in message.text:
            complaints.append(message.text)

    page.on("console", console)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    return complaints


def main() -> int:
    given = arguments()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        width, height = given.size
        page = browser.new_page(viewport={"width": width, "height": height})
        complaints = listen(page)
        page.route("**/*", lambda route: answer(route, given.assets))
        page.goto(given.map.resolve().as_uri(), wait_until="load")
        page.wait_for_timeout(500)  # milliseconds; Leaflet draws in its own time
        if given.hover is not None:
            page.mouse.move(*given.hover)
            page.wait_for_timeout(300)
        page.screenshot(path=given.out)
        browser.close()
    for complaint in complaints:
        print(complaint, file=sys.stderr)
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
