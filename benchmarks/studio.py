"""A release made in the studio, beside the same commands typed: seconds and memory.

    pip install 'trajanon[studio]' playwright   # no browser is downloaded: Debian's chromium
    python benchmarks/studio.py cabs.parquet --bbox=-122.52,37.70,-122.35,37.84 --spacing 100
    python benchmarks/studio.py data/sample --picture docs/studio.png

It prints the most memory that the studio itself held, and each command both ways.
"""

import re
import shlex
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, sleep

from measures import chromium, command_line, row, say_machine
from playwright.sync_api import Page, sync_playwright

OFTEN = 100  # milliseconds between two looks at the memory


def peak_mb(pid: int) -> float:
    """Megabytes that a process held at most; 0 once it has ended."""
    try:
        status = Path(f"/proc/{pid}/status").read_text("utf-8")
    except OSError:
        return 0.0
    found = re.search(r"VmHWM:\s+(\d+) kB", status)
    return float(found[1]) / 1_000 if found else 0.0


def children(pid: int) -> dict[str, float]:
    """The peak of each command that a studio runs, by its name."""
    peaks = {}
    for child in Path(f"/proc/{pid}/task/{pid}/children").read_text("utf-8").split():
        words = Path(f"/proc/{child}/cmdline").read_bytes().decode().split("\0")
        if "trajanon" in words:
            peaks[words[words.index("trajanon") + 1]] = peak_mb(int(child))
    return peaks


def released(page: Page, studio: int) -> dict[str, float]:
    """Make a release, and give the peak of each command."""
    peaks: dict[str, float] = {}
    page.get_by_role("button", name="Make the release").click()
    while not page.get_by_role("link", name="settings.toml").is_visible():
        for name, peak in children(studio).items():
            peaks[name] = max(peak, peaks.get(name, 0.0))
        page.wait_for_timeout(OFTEN)
    return peaks


def typed(lines: list[str]) -> dict[str, float]:
    """Run commands in a folder of their own, and give the peak of each."""
    peaks = {}
    with TemporaryDirectory() as folder:
        for line in lines:
            words = [sys.executable, "-m", *shlex.split(line), "--json"]
            words = words[:-1] if "map" in words else words
            with subprocess.Popen(words, cwd=folder, stdout=subprocess.DEVNULL) as command:
                peak = 0.0
                while command.poll() is None:
                    peak = max(peak, peak_mb(command.pid))
                    sleep(OFTEN / 1_000)
            peaks[words[3]] = peak
    return peaks


def measure(file: Path, bbox: str = "", spacing: str = "", picture: Path | None = None) -> None:
    """Make a release in the studio and by commands: of trips, or of windows with that spacing."""
    words = [sys.executable, "-m", "trajanon", "studio", "--no-browser", str(file)]
    with (
        subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as studio,
        sync_playwright() as playwright,
    ):
        assert studio.stdout is not None
        address = studio.stdout.readline().split()[1]
        browser = chromium(playwright)
        page = browser.new_page(viewport={"width": 1280, "height": 1400})
        page.goto(address)
        page.wait_for_function("window.did_handshake")
        page.get_by_role("button", name="Area, windows").click()
        page.get_by_label("Area", exact=True).fill(bbox)
        if spacing:
            page.get_by_label("What becomes a line").click()
            page.get_by_role("option", name="Windows").click()
            page.get_by_label("Metres between").fill(spacing)
        page.wait_for_timeout(1_000)
        began = perf_counter()
        beside = released(page, studio.pid)
        seconds, itself = perf_counter() - began, peak_mb(studio.pid)
        lines = page.locator(".command").text_content().splitlines()
        if picture is not None:
            page.locator("iframe").scroll_into_view_if_needed()
            page.wait_for_timeout(3_000)
            page.locator(".given").last.screenshot(path=picture)
        browser.close()
        studio.terminate()
    say_machine()
    print(f"{seconds:.1f} s in the studio, which itself held {itself:.0f} MB at most")
    row("command", "in the studio, MB", "typed, MB")
    row("---", "---", "---")
    for name, peak in typed(lines).items():
        row(name, f"{beside[name]:.0f}", f"{peak:.0f}")


if __name__ == "__main__":
    command_line(__doc__, measure)
