"""Draw the studio and its maps: python tests/helpers/studio_picture.py writes the docs' pictures.

It needs the packages for tests, and Chromium.
"""

from pathlib import Path
from tempfile import TemporaryDirectory

from browsing import CHROMIUM
from PIL import Image
from playwright.sync_api import Page, sync_playwright
from studios import choose, press, studio

_DOCS = Path(__file__).parents[2] / "docs"


def draw(page: Page, picture: Path, heading: str) -> None:
    """Draw what the page of a studio shows from a heading on."""
    page.set_viewport_size({"width": 1100, "height": 1300})
    page.get_by_role("heading", name=heading).evaluate("node => node.scrollIntoView()")
    page.mouse.move(0, 0)
    save(page, picture)


def draw_map(page: Page, address: str, picture: Path, *hours: str) -> None:
    """Draw a map; of a release with times, the lines of some hours."""
    page.set_viewport_size({"width": 1280, "height": 800})
    page.goto(address)
    for hour in hours:
        page.get_by_role("button", name=hour).first.click()
    save(page, picture)


def save(page: Page, picture: Path) -> None:
    """Save what a page shows, in so few colours that the file is small."""
    page.wait_for_timeout(1_500)  # until maps are drawn
    page.screenshot(path=picture, animations="disabled")
    Image.open(picture).quantize(64).save(picture, optimize=True)


def main() -> None:
    """Make a release of the sample in a studio, and draw it."""
    with TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        with studio(browser, Path(folder)) as opened:
            page = opened.open()
            page.get_by_role("button", name="Use the sample").click()
            press(page, "Make the release")
            draw(page, _DOCS / "studio.png", "3. May it be published?")
            draw_map(page, f"{opened.address}/out/map.html", _DOCS / "map.png")
            public = f"{opened.address}/out/map.public.html"
            draw_map(page, public, _DOCS / "gallery" / "public.png")

            page.goto(opened.address)
            choose(page, "Times", "Time of day")
            press(page, "Make the release")
            draw_map(page, public, _DOCS / "gallery" / "hours.png", "08:00–", "09:00–")


if __name__ == "__main__":
    main()
