"""A studio that runs, and a browser that looks at it."""

import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from axe_playwright_python.sync_playwright import Axe
from commands import command
from playwright.sync_api import Browser, Locator, Page, TimeoutError, expect


@dataclass
class Studio:
    """A studio at work, and its pages."""

    address: str
    code: str  # that opens it
    folder: Path  # in which it was started
    process: "subprocess.Popen[str]"
    browser: Browser
    foreign: list[str] = field(default_factory=list)  # what its pages asked others for

    def open(self, width: int = 1280, height: int = 800) -> Page:
        """Open it in a tab."""
        if not self.browser.contexts:
            self.browser.new_context(accept_downloads=True)
        page = self.browser.contexts[0].new_page()
        page.set_viewport_size({"width": width, "height": height})
        page.set_default_timeout(30_000)
        page.on("request", lambda asked: self._asked(asked.url))
        page.goto(self.address)
        if page.get_by_label("Code").count():
            page.get_by_label("Code").fill(self.code)
            page.get_by_role("button", name="Open").click()
        expect(page.get_by_role("heading", name="trajanon studio")).to_be_visible()
        page.wait_for_function("window.did_handshake")
        return page

    def _asked(self, address: str) -> None:
        if not address.startswith((self.address, "data:", "blob:", "about:")):
            self.foreign.append(address)

    def status(self, path: str = "/", sent: str | None = None, **headers: str) -> int:
        """The answer to somebody who is not the page."""
        asked = Request(
            self.address + path, None if sent is None else sent.encode(), headers=headers
        )
        try:
            with urlopen(asked) as answer:
                return int(answer.status)
        except HTTPError as refused:
            return refused.code


@contextmanager
def studio(browser: Browser, folder: Path, *files: str, alone: bool = True) -> Iterator[Studio]:
    """Start a studio, and end it; one that is not alone opens the page by itself."""
    expect.set_options(timeout=60_000)  # each button starts processes, beside other tests
    with command(folder, "studio", *["--no-browser"] * alone, *files) as process:
        assert process.stdout is not None
        found = re.search(r"(http://\S+) .* code is (\w+)", process.stdout.readline())
        assert found is not None, process.communicate()
        opened = Studio(found[1], found[2], folder, process, browser)
        yield opened
        for context in browser.contexts:
            context.close()
        process.terminate()
        process.wait(20)
        assert opened.foreign == []


def section(page: Page, name: str) -> Locator:
    """A step of the page by its heading."""
    return page.locator("section").filter(has=page.get_by_role("heading", name=name))


def press(page: Page, name: str) -> None:
    """Press a button, and wait until nothing is at work."""
    page.get_by_role("button", name=name, exact=True).click()
    page.wait_for_timeout(300)
    expect(page.get_by_role("button", name="Stop")).to_be_hidden(timeout=300_000)


def clear(page: Page) -> None:
    """Remove all files."""
    gone = page.get_by_role("button", name="Remove").filter(has_text=re.compile("^Remove$"))
    while left := gone.count():
        gone.first.click()
        expect(gone).to_have_count(left - 1)


def bring(page: Page, path: Path) -> None:
    """Take a file of this machine in place of what was there."""
    clear(page)
    fill(page, "Or the path", str(path))
    page.get_by_role("button", name="Add").click()
    expect(page.get_by_role("button", name=f"Remove {path.name}")).to_be_visible()


def fill(page: Page, label: str | re.Pattern[str], text: str) -> None:
    """Type into a field until the page keeps it: just opened, it may be still at work."""
    field = page.get_by_label(label)
    for _ in range(20):
        field.fill(text)
        page.wait_for_timeout(300)
        if field.input_value() == text:
            return


def choose(page: Page, label: str, option: str) -> None:
    """Choose from a list; one that was just made may not open at once."""
    offered = page.get_by_role("option", name=option)
    for _ in range(20):
        page.get_by_role("combobox", name=label, exact=True).first.click()
        with suppress(TimeoutError):
            offered.wait_for(timeout=500)
            break
    offered.click()
    expect(offered).to_be_hidden()  # lists close slowly, and another one may have equal entries


def save(page: Page, name: str, folder: Path) -> Path:
    """Save what a link offers."""
    link = page.get_by_role("link", name=name).first
    link.scroll_into_view_if_needed()
    for _ in range(6):  # just scrolled, a busy browser may send a click to what was there before
        page.wait_for_timeout(500)
        with suppress(TimeoutError):
            with page.expect_download(timeout=10_000) as saved:
                link.click()
            break
    path = folder / saved.value.suggested_filename
    saved.value.save_as(path)
    return path


def barriers(page: Page) -> str:
    """What axe finds that keeps somebody out; nothing is best."""
    found = Axe().run(page, options={"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]})
    return found.generate_report() if found.violations_count else ""
