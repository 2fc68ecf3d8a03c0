"""The studio in a real browser: what people do there, and what strangers may not."""

import http.client
from collections.abc import Iterator
from pathlib import Path
from tempfile import gettempdir

import pytest
from browsing import needs_chromium
from commands import Run, files_of_at_most, names, track
from playwright.sync_api import Browser, expect
from studios import Studio, barriers, fill, make_release, save, section, studio

from trajanon.studio.server import MOST
from trajanon.studio.work import Work

pytestmark = needs_chromium


@pytest.fixture
def opened(browser: Browser, tmp_path: Path) -> Iterator[Studio]:
    with studio(browser, tmp_path) as started:
        yield started


def gpx(folder: Path, tracks: int) -> list[Path]:
    """Ways of as many people, 11 m beside one another."""
    made = []
    for number in range(tracks):
        made.append(folder / f"{number}.gpx")
        made[-1].write_text(track(lon=-3.7 + number / 10_000, points=100), "utf-8")
    return made


def test_the_sample_becomes_a_release_that_holds(opened: Studio, run: Run, tmp_path: Path) -> None:
    page = opened.open()
    assert barriers(page) == ""
    page.get_by_role("button", name="Use the sample").click()
    other = opened.open()  # a second tab, before it is begun
    make_release(page)
    released = save(page, "anonymized.parquet", tmp_path)
    sheet = save(page, "anonymized.datasheet.md", tmp_path)
    assert sheet.read_text("utf-8").startswith("# ")
    assert barriers(page) == ""
    expect(section(page, "2. What they hold")).to_contain_text("55,878 points of 150 people")
    expect(section(page, "4. What it protects")).to_contain_text("The release passes its check")
    page.locator("iframe").scroll_into_view_if_needed()
    drawn = page.frame_locator("iframe")
    expect(drawn.get_by_text("Originals (273), thin")).to_be_visible()
    expect(drawn.locator(".leaflet-control-scale-line")).to_have_text("2 km")
    for tab in (other, page):  # nothing is lost by a reload, or in another tab
        tab.reload()
        expect(tab.get_by_role("link", name="settings.toml")).to_be_visible()
        expect(tab.get_by_role("button", name="Remove sample")).to_be_visible()
    phone = opened.open(390, 844)
    assert barriers(phone) == ""
    assert phone.evaluate("document.documentElement.scrollWidth") <= 390
    assert run("check", str(released), "-k", "4").code == 0


def test_the_keyboard_is_enough_and_settings_repeat_the_work(
    browser: Browser, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tracks = tmp_path / "tracks"
    tracks.mkdir()
    gpx(tracks, 9)
    with studio(browser, tmp_path, str(tracks)) as opened:
        page = opened.open()
        page.get_by_label("People behind each line").focus()
        page.keyboard.press("Control+a")
        page.keyboard.type("3")
        page.keyboard.press("Tab")
        page.get_by_label("Format of the release").focus()
        page.keyboard.press("ArrowDown")
        expect(page.get_by_role("option", name="GeoJSON")).to_be_visible()
        for _ in range(10):
            if page.locator(".q-item.q-manual-focusable--focused").inner_text() == "GeoJSON":
                break
            page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
        expect(section(page, "3. What to publish")).to_contain_text(
            "trajanon anonymize -k 3 --out anonymized.geojson"
        )
        page.get_by_role("button", name="Make the release").focus()
        page.keyboard.press("Enter")
        expect(page.get_by_role("link", name="settings.toml")).to_be_visible(timeout=300_000)
        # What is chosen later is of the next release.
        fill(page, "People behind each line", "4")
        saved = save(page, "settings.toml", tmp_path)
    assert "k = 3\n" in saved.read_text("utf-8")
    monkeypatch.chdir(tmp_path)
    assert run("run", "settings.toml").code == 0
    assert run("check", "anonymized.geojson", "-k", "3").code == 0
    assert {"evaluation.html", "map.html"} <= names(tmp_path)


def test_a_whole_number_is_one_for_each_command(tmp_path: Path) -> None:
    """Fields may give 3.0 where somebody typed 3, and k is of more than one command."""
    work = Work(tmp_path, {})
    work.chosen["k"] = 3.0
    assert [repr(work.table(command)["k"]) for command in ("anonymize", "check")] == ["3", "3"]


def test_other_k_are_shown_side_by_side(browser: Browser, tmp_path: Path) -> None:
    with studio(browser, tmp_path, *map(str, gpx(tmp_path, 9))) as opened:
        page = opened.open()
        fill(page, "Numbers k", "2,few")
        page.get_by_role("button", name="Compare").click()
        numbers = section(page, "5. Compare other k")
        expect(numbers.get_by_role("alert")).to_contain_text("few", timeout=120_000)
        fill(page, "Numbers k", "2,4")
        page.get_by_role("button", name="Compare").click()
        expect(numbers.get_by_role("row")).to_have_count(3, timeout=120_000)
        assert barriers(page) == ""


def test_what_is_at_work_can_be_stopped(opened: Studio) -> None:
    page = opened.open()
    page.get_by_role("button", name="Use the sample").click()
    page.get_by_role("button", name="Make the release").click()
    page.get_by_role("button", name="Stop").click()
    expect(page.get_by_text("Stopped. What was there before is still there.")).to_be_visible()
    expect(page.get_by_role("button", name="Stop")).to_be_hidden()
    expect(section(page, "6. Save")).to_contain_text("Make a release first.")
    page.get_by_role("button", name="Look into the files").click()
    expect(page.get_by_text("55,878 points")).to_be_visible(timeout=120_000)


def test_a_mistake_is_told_beside_its_field(opened: Studio, tmp_path: Path) -> None:
    page = opened.open()
    files, publish = section(page, "1. Files"), section(page, "3. What to publish")
    page.get_by_role("button", name="Look into the files").click()
    expect(files.get_by_role("alert").first).to_contain_text("Bring a file")
    fill(page, "Or the path", "nowhere.gpx")
    page.get_by_role("button", name="Add").click()
    expect(files.get_by_role("alert").first).to_contain_text("There is no nowhere.gpx")

    letter = tmp_path / "letter.gpx"
    letter.write_text("Dear Sir or Madam", "utf-8")
    page.get_by_label("Bring files").set_input_files(letter)
    page.get_by_role("button", name="Look into the files").click()
    expect(files.get_by_role("alert").first).to_contain_text("letter.gpx", timeout=60_000)
    page.get_by_role("button", name="Remove letter.gpx").click()

    page.get_by_label("Bring files").set_input_files(gpx(tmp_path, 3))
    expect(page.get_by_role("button", name="Remove 2.gpx")).to_be_visible()
    page.get_by_role("button", name="Make the release").click()
    expect(publish.get_by_role("alert").first).to_contain_text("3", timeout=60_000)
    fill(page, "Area", "atlantis")
    page.get_by_role("button", name="Look into the files").click()
    trouble = section(page, "2. What they hold").get_by_role("alert").first
    expect(trouble).to_contain_text("atlantis", timeout=60_000)
    assert barriers(page) == ""


def test_a_full_disk_and_too_much_for_the_browser_are_said(
    browser: Browser, tmp_path: Path
) -> None:
    large = tmp_path / "large.gpx"
    large.write_text(track(points=20_000), "utf-8")
    with files_of_at_most(400_000), studio(browser, tmp_path) as opened:
        page = opened.open()
        trouble = section(page, "1. Files").get_by_role("alert").first
        page.get_by_label("Bring files").set_input_files(large)
        expect(trouble).to_contain_text("large.gpx could not be kept")
        page.evaluate(
            f"fetch('/files/huge.gpx', {{method: 'PUT', headers: {{'x-bytes': '{MOST + 1}'}}}})"
        )
        expect(trouble).to_contain_text("huge.gpx is over a gigabyte")
        assert page.get_by_role("button", name="Remove", exact=True).count() == 0


def test_only_its_own_page_is_answered(opened: Studio) -> None:
    key = opened.address.split("/?")[1]
    host = opened.address.split("/")[2]
    assert opened.status() == 403
    assert opened.status("/?key=guessed") == 403
    assert opened.status(f"/?{key}", Host="evil.example") == 403
    assert opened.status(f"/?{key}", Origin="http://evil.example") == 403
    page = opened.open()
    cookies = "; ".join(f"{one['name']}={one['value']}" for one in page.context.cookies())
    assert opened.status(Cookie=cookies) == 200
    assert opened.status(Cookie=cookies, Host="evil.example") == 403
    assert opened.status(Cookie=cookies, Origin="http://evil.example") == 403
    assert opened.status("/out/trajectories.parquet", Cookie=cookies) == 404
    assert opened.status("/out/..%2Ftrajanon.lock", Cookie=cookies) == 404
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


def test_it_ends_and_leaves_nothing(opened: Studio, tmp_path: Path) -> None:
    page = opened.open()
    page.get_by_label("Bring files").set_input_files(gpx(tmp_path, 1))
    expect(page.get_by_role("button", name="Remove 0.gpx")).to_be_visible()
    kept = [one for one in Path(gettempdir()).glob(".trajanon-studio.*") if _pid(opened, one)]
    assert len(kept) == 1
    assert kept[0].stat().st_mode & 0o777 == 0o700
    expect(page.get_by_text(f"Everything is in {kept[0]}")).to_be_visible()
    page.get_by_role("button", name="Remove everything and end").click()
    assert opened.process.wait(20) == 0
    assert not kept[0].exists()


def _pid(opened: Studio, folder: Path) -> bool:
    return folder.name.split(".")[2].split("-")[0] == str(opened.process.pid)
