"""Photograph a map without internet: tiles are refused, the rest is in the page.

    pip install playwright          # no browser is downloaded: Debian's chromium
    python benchmarks/screenshot.py map.html map.png
    python benchmarks/screenshot.py map.html phone.png --size 390x844

It prints the size of the page, the seconds until the first picture with all lines, and what the
page writes on its console: refused tiles alone, if all is well.
"""

import re
import shutil
from pathlib import Path

from measures import command_line
from playwright.sync_api import sync_playwright

PAINTED = """async () => {
  await trajanon.drawn();
  return new Promise((done) => requestAnimationFrame(() =>
    requestAnimationFrame(() => done(performance.now() / 1000))));
}"""


def photograph(map: Path, out: Path, size: str = "1280x800") -> None:
    """Save a picture of the page as a browser shows it."""
    width, height = (int(side) for side in size.split("x"))
    with sync_playwright() as playwright:
        program = shutil.which("chromium")  # Debian's: Playwright brings none
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": width, "height": height})
        complaints: list[str] = []
        page.on("console", lambda said: complaints.append(said.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.route(re.compile("^https?:"), lambda route: route.abort())
        page.goto(map.resolve().as_uri(), wait_until="load")
        seconds = page.evaluate(PAINTED)
        page.wait_for_timeout(500)  # milliseconds, for what fades in
        page.screenshot(path=out)
        browser.close()
    megabytes = map.stat().st_size / 1e6
    print(f"{megabytes:.1f} MB, first picture after {seconds:.2f} s")
    print(*complaints, sep="\n")


if __name__ == "__main__":
    command_line(__doc__, photograph)
