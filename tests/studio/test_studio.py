"""The studio in a real browser: what people do there, and what strangers may not."""

import http.client
import os
import re
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import gettempdir

import pytest
from browsing import needs_chromium
from commands import Run, files_of_at_most, mode, track
from playwright.sync_api import Browser, Page, expect
from studios import Studio, barriers, bring, choose, clear, fill, press, save, section, studio

from trajanon.data import sample
from trajanon.studio.server import MOST

pytestmark = needs_chromium


@pytest.fixture(scope="module")
def running(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Studio]:
    """One studio for all tests: each brings its own files."""
    with studio(browser, tmp_path_factory.mktemp("studio")) as started:
        yield started


@pytest.fixture
def page(running: Studio) -> Iterator[Page]:
    opened = running.open()
    yield opened
    for one in opened.context.pages:
        one.close()


def cabs(folder: Path) -> Path:
    """A table of ten trips of five cabs, whose column of cabs no program can know."""
    made = folder / "cabs.csv"
    rows = [
        f"{trip},{trip % 5},{40.4 + i / 10_000:.4f},{-3.7 + trip / 10_000:.4f}"
        for trip in range(10)
        for i in range(100)
    ]
    made.write_text("\n".join(["trip_id,medallion,lat,lon", *rows]), "utf-8")
    return made


def test_from_a_table_to_a_release_by_keyboard_and_what_is_old(
    running: Studio, page: Page, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert barriers(page) == ""
    bring(page, cabs(tmp_path))
    page.get_by_label("How many stand behind").focus()
    page.keyboard.press("Control+a")
    page.keyboard.type("3")
    page.get_by_role("button", name="Times, and format").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_label("Format of the release")).to_be_visible()
    page.get_by_label("Format of the release").focus()
    page.keyboard.press("ArrowDown")
    expect(page.get_by_role("option", name="GeoJSON")).to_be_visible()
    for _ in range(10):
        if page.locator(".q-item.q-manual-focusable--focused").inner_text() == "GeoJSON":
            break
        page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.get_by_text("The same as commands").click()
    expect(page.get_by_text("trajanon anonymize -k 3 --out anonymized.geojson")).to_be_visible()
    other = running.open()  # a second tab
    page.get_by_role("button", name="Make the release").focus()
    page.keyboard.press("Enter")
    files = section(page, "1. Files")
    told = "lat=lat, lon=lon, id=trip_id; not used: medallion"
    expect(files).to_contain_text(told, timeout=300_000)
    expect(files).to_contain_text("1,000 points of 10 recordings")
    expect(page.get_by_text("Say which column names the person")).to_be_in_viewport()
    expect(page.get_by_role("link", name="settings.toml")).to_be_hidden()
    for name in ("1. Files", "2. Release"):
        assert "people" not in section(page, name).inner_text().lower()
    person = "Which column names the person?"
    choose(page, person, "No column does")
    press(page, "Make the release")
    expect(page.get_by_role("link", name="settings.toml")).to_be_visible()

    expect(section(page, "4. What it costs")).to_contain_text("Released points lie")
    page.locator("iframe").scroll_into_view_if_needed()
    drawn = page.frame_locator("iframe")
    expect(drawn.get_by_text("Originals (10), thin")).to_be_visible()
    assert barriers(page) == ""
    page.set_viewport_size({"width": 390, "height": 844})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    for tab in (other, page):  # nothing is lost by a reload, or in another tab
        tab.reload()
        expect(tab.get_by_role("link", name="settings.toml")).to_be_visible()
        expect(tab.get_by_role("button", name="Remove cabs.csv")).to_be_visible()

    costs = section(page, "4. What it costs")
    expect(costs.get_by_role("row")).to_have_count(2)
    expect(costs.get_by_role("row").nth(1)).to_contain_text("3, this release")
    saved = [
        save(page, name, tmp_path)
        for name in ("anonymized.geojson", "anonymized.datasheet.md", "map.public.html")
    ]
    assert saved[1].read_text("utf-8").startswith("# ")
    assert "not for publication" not in saved[2].read_text("utf-8")

    settings = save(page, "settings.toml", tmp_path)
    monkeypatch.chdir(tmp_path)
    saved[0].unlink()
    made, _, shown = settings.read_text("utf-8").partition("[evaluate]")
    settings.write_text(made, "utf-8")  # to evaluate and to draw it again takes long
    assert "[map]" in shown
    assert run("run", str(settings)).code == 0
    assert run("check", "anonymized.geojson", "-k", "3").code == 0

    old = page.get_by_text("Old: made before").last
    expect(old).to_be_hidden()
    fill(page, "How many stand behind", "50")
    expect(old).to_be_visible()
    expect(page.get_by_role("link", name="settings.toml")).to_be_hidden()
    address = running.address
    for name in ("anonymized.geojson", "map.public.html", "settings.toml"):
        assert page.request.get(f"{address}/out/{name}").status == 404
    choose(page, person, "medallion")
    press(page, "Look into the files")
    expect(files).to_contain_text("k counts people: 5 people are named")


def test_a_mistake_is_told(page: Page, tmp_path: Path) -> None:
    clear(page)
    press(page, "Look into the files")
    expect(page.get_by_role("alert")).to_contain_text("Bring a file")
    fill(page, "Or the path", "nowhere.gpx")
    page.get_by_role("button", name="Add").click()
    expect(page.get_by_role("alert")).to_contain_text("There is no nowhere.gpx")

    letter = tmp_path / "letter.gpx"
    letter.write_text("Dear Sir or Madam", "utf-8")
    page.get_by_label("Bring files").set_input_files(letter)
    press(page, "Look into the files")
    expect(page.get_by_role("alert")).to_contain_text("letter.gpx")
    page.get_by_role("button", name="Remove letter.gpx").click()
    page.get_by_label("Bring files").set_input_files(cabs(tmp_path))
    expect(page.get_by_role("button", name="Remove cabs.csv")).to_be_visible()
    page.get_by_text("Area, windows").click()
    fill(page, re.compile("^Area"), "atlantis")
    press(page, "Look into the files")
    expect(page.get_by_role("alert")).to_contain_text("atlantis")
    expect(page.get_by_role("alert")).to_be_in_viewport()
    assert barriers(page) == ""
    fill(page, re.compile("^Area"), "")


def test_what_is_at_work_can_be_stopped(page: Page) -> None:
    bring(page, sample())
    page.get_by_role("button", name="Make the release").click()
    page.get_by_role("button", name="Stop").click()
    expect(page.get_by_text("Stopped.")).to_be_visible()
    expect(page.get_by_role("button", name="Stop")).to_be_hidden()
    expect(page.get_by_role("link", name="settings.toml")).to_be_hidden()


def test_only_its_own_page_is_answered(running: Studio, page: Page) -> None:
    host = running.address.split("/")[2]
    right = f"code={running.code}"
    assert running.status() == 403
    assert running.status(f"/?{right}") == 403
    assert running.status("/enter", "code=guessed") == 403
    assert running.status("/enter", right + " " * 1_000) == 403
    assert running.status("/enter", right, Host="evil.example") == 403
    assert running.status("/enter", right, Origin="http://evil.example") == 403
    assert running.status("/enter", right, Origin="null") == 200  # of a file
    cookies = "; ".join(f"{one['name']}={one['value']}" for one in page.context.cookies())
    assert running.status(Cookie=cookies) == 200
    assert running.status(Cookie=cookies, Host="evil.example") == 403
    for origin in ("http://evil.example", "null"):
        assert running.status(Cookie=cookies, Origin=origin) == 403
    assert running.status("/out/trajectories.parquet", Cookie=cookies) == 404
    assert running.status("/out/..%2Ftrajanon.lock", Cookie=cookies) == 404
    for origin, answer in (("http://evil.example", 403), (f"http://{host}", 101)):
        socket = http.client.HTTPConnection(host)
        socket.request(
            "GET",
            "/_nicegui_ws/socket.io/?EIO=4&transport=websocket&implicit_handshake=true",
            headers={
                "Cookie": cookies,
                "Origin": origin,
                "Connection": "Upgrade",
                "Upgrade": "websocket",
                "Sec-WebSocket-Version": "13",
                "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
            },
        )
        assert socket.getresponse().status == answer
        socket.close()


def test_another_user_of_the_machine_finds_no_way_in(
    browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The page opens by a file, whose name alone stands on the browser's command line."""
    seen = tmp_path / "seen"
    opener = tmp_path / "opener"
    opener.write_text(f"#!/bin/sh\nps -ww -o args= -p $$ > {seen}.part; mv {seen}.part {seen}\n")
    opener.chmod(0o755)
    monkeypatch.setenv("BROWSER", str(opener))
    with studio(browser, tmp_path, alone=False) as opened:
        for _ in range(200):
            if seen.exists():
                break
            time.sleep(0.1)
        words = seen.read_text("utf-8").split()
        assert opened.code not in " ".join(words)
        (door,) = (word for word in words if word.startswith("file://"))
        path = Path(door.removeprefix("file://"))
        assert mode(path) == 0o600
        assert mode(path.parent.parent) == 0o700

        page = browser.new_context().new_page()
        page.goto(door)
        expect(page.get_by_role("heading", name="1. Files")).to_be_visible()
        assert page.url == f"{opened.address}/"
        page.go_back()
        assert page.url != f"{opened.address}/enter"

        if os.geteuid() != 0:
            pytest.skip("only root can ask as another user")
        commands = _as_nobody("ps", "-eww", "-o", "args=")
        assert "studio" in commands.stdout
        assert opened.code not in commands.stdout
        assert _as_nobody("cat", str(path)).returncode != 0
        assert _as_nobody("cat", f"/proc/{opened.process.pid}/environ").returncode != 0


def _as_nobody(*words: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(words, user=65534, capture_output=True, text=True, check=False)


def test_what_cannot_be_kept_is_said_and_nothing_is_left_at_the_end(
    browser: Browser, tmp_path: Path
) -> None:
    large, small = tmp_path / "large.gpx", tmp_path / "small.gpx"
    large.write_text(track(points=20_000), "utf-8")
    small.write_text(track(), "utf-8")
    with files_of_at_most(400_000), studio(browser, tmp_path) as opened:
        page = opened.open()
        trouble = page.get_by_role("alert")
        page.get_by_label("Bring files").set_input_files(large)
        expect(trouble).to_contain_text("large.gpx could not be kept")
        page.evaluate(
            f"fetch('/files/huge.gpx', {{method: 'PUT', headers: {{'x-bytes': '{MOST + 1}'}}}})"
        )
        expect(trouble).to_contain_text("it is over a gigabyte, so give its path instead")
        asked = (("/files/a%00b.gpx", "1"), ("/files/a.gpx", "many"), ("/files/a.gpx", "9" * 5_000))
        for path, size in asked:
            put = "(await fetch('{}', {{method: 'PUT', headers: {{'x-bytes': '{}'}}}})).status"
            assert page.evaluate(f"(async () => {put.format(path, size)})()") == 400
        assert page.get_by_role("button", name="Remove", exact=True).count() == 0
        page.get_by_label("Bring files").set_input_files(small)
        expect(page.get_by_role("button", name="Remove small.gpx")).to_be_visible()
        kept = [one for one in Path(gettempdir()).glob(".trajanon-studio.*") if _pid(opened, one)]
        assert len(kept) == 1
        assert kept[0].stat().st_mode & 0o777 == 0o700
        expect(page.get_by_text(f"Everything is in {kept[0]}")).to_be_visible()
        page.get_by_role("button", name="Remove everything and end").click()
        page.get_by_role("button", name="Go on working").click()
        expect(page.get_by_role("button", name="Remove and end")).to_be_hidden()
        assert (kept[0] / "trajanon-studio" / "files" / "small.gpx").exists()
        page.get_by_role("button", name="Remove everything and end").click()
        page.get_by_role("button", name="Remove and end").click()
        assert opened.process.wait(20) == 0
        assert not kept[0].exists()


def _pid(opened: Studio, folder: Path) -> bool:
    return folder.name.split(".")[2].split("-")[0] == str(opened.process.pid)
