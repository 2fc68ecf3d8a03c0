"""Photograph a map without internet: tiles are refused, the rest is in the page.

    pip install playwright          # no browser is downloaded: Debian's chromium
    python benchmarks/screenshot.py map.html map.png
    python benchmarks/screenshot.py map.html phone.png --size 390x844 --hover 200,300

With --hover the mouse waits there, in pixels, for a group to stand out. It prints the size of the
page and the seconds until the first picture with all lines, and what the page writes on its
console, refused tiles left out; any of that makes the exit code 1.
"""

import argparse
import os
import re
import shutil
import sys
from pathlib import Path

from playwright.sync_api import ConsoleMessage, Page, sync_playwright

FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
PAINTED = """async () => {
  await trajanon.drawn();
  return new Promise((done) => requestAnimationFrame(() =>
    requestAnimationFrame(() => done(performance.now() / 1000))));
}"""


def pair(text: str, separator: str) -> tuple[int, int]:
    first, second = text.split(separator)
    return int(first), int(second)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("map", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--size", type=lambda text: pair(text, "x"), default=(1280, 800))
    parser.add_argument("--hover", type=lambda text: pair(text, ","), metavar="X,Y")
    return parser.parse_args()


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
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        width, height = given.size
        page = browser.new_page(viewport={"width": width, "height": height})
        complaints = listen(page)
        page.route(re.compile("^https?:"), lambda route: route.abort())
        page.goto(given.map.resolve().as_uri(), wait_until="load")
        seconds = page.evaluate(PAINTED)
        page.wait_for_timeout(500)  # milliseconds, for what fades in
        if given.hover is not None:
            page.mouse.move(*given.hover)
            page.wait_for_timeout(400)
        page.screenshot(path=given.out)
        browser.close()
    megabytes = given.map.stat().st_size / 1e6
    load = os.getloadavg()[0]
    print(f"{megabytes:.1f} MB, first picture after {seconds:.2f} s, load {load:.1f}")
    for complaint in complaints:
        print(complaint, file=sys.stderr)
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
