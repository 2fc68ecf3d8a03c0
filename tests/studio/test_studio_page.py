"""The studio in a real browser: what people do there, and what strangers may not."""

import http.client
import os
import re
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack
from html import unescape
from pathlib import Path
from tempfile import gettempdir

import pytest
from browsing import needs_chromium
from commands import Run, files_of_at_most, mode, track
from playwright.sync_api import Browser, Locator, Page, expect
from studio_picture import draw
from studios import Studio, barriers, bring, choose, clear, fill, press, save, section, studio

from trajanon.data import sample

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


def rides(folder: Path, name: str, header: str, *, people: int, trips: int = 10) -> Path:
    """A table of semicolons and decimal commas: trips side by side to the north, in Madrid."""
    made = folder / name
    rows = [
        f"{trip};K{trip % people};{40.4 + i / 10_000:.4f};{-3.7 + trip / 10_000:.4f}"
        for trip in range(trips)
        for i in range(60)
    ]
    made.write_text("\n".join([header, *rows]).replace(".", ","), "utf-8")
    return made


def seen_beside(page: Page, words: str) -> Locator:
    """The message beside the button that was pressed, which nobody has to look for."""
    alert = page.get_by_role("alert")
    expect(alert).to_contain_text(words)
    expect(alert).to_be_in_viewport()
    assert "--" not in alert.inner_text()
    return alert


def test_from_a_table_of_strange_columns_to_releases_side_by_side(
    running: Studio, page: Page, run: Run, tmp_path: Path
) -> None:
    page.set_viewport_size({"width": 1280, "height": 720})
    assert barriers(page) == ""
    bring(page, rides(tmp_path, "rides.csv", "Fahrt;Kunde;Breite;Laenge", people=5))
    fill(page, "At least this many behind", "3")
    press(page, "Make the release")
    seen_beside(page, "choose the column for “Latitude”, “Longitude” and “Trip”")
    asked = page.locator(".beside")
    for label, column in (("Latitude", "Breite"), ("Longitude", "Laenge"), ("Trip", "Fahrt")):
        choose(page, label, column)
    press(page, "Try again")
    seen_beside(page, "Choose the column that names the person")
    assert barriers(page) == ""
    choose(page, "Which column names the person?", "Kunde (5 different)")
    other = running.open()  # a second tab
    press(page, "Try again")

    verdict = section(page, "3. May it be published?")
    expect(verdict.locator(".verdict")).to_have_class(re.compile("green|amber"))
    expect(asked).to_have_count(0)
    files = section(page, "1. Files")
    expect(files).to_contain_text("k counts people: 5 people are named")
    settings = page.get_by_role("link", name="settings.toml")
    expect(settings).to_be_visible()
    headings = page.locator("h2").all_inner_texts()
    assert [heading[:2] for heading in headings] == [f"{n}." for n in range(1, len(headings) + 1)]
    page.locator("iframe").scroll_into_view_if_needed()
    drawn = page.frame_locator("iframe")
    expect(drawn.get_by_text("Originals (10), thin")).to_be_visible()
    expect(drawn.locator(".compass")).to_contain_text("Madrid")
    assert barriers(page) == ""
    page.set_viewport_size({"width": 390, "height": 844})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.set_viewport_size({"width": 1280, "height": 720})
    for tab in (other, page):  # nothing is lost by a reload, or in another tab
        tab.reload()
        tab.wait_for_function("window.did_handshake")
        expect(tab.get_by_role("link", name="settings.toml")).to_be_visible()
        expect(tab.get_by_role("button", name="Remove rides.csv")).to_be_visible()
    other.close()
    page.bring_to_front()  # what is not in front saves nothing

    # The same five answers on this page, on that of the evaluation, and asked in the datasheet.
    answers = page.locator(".answer").all_inner_texts()
    assert len(answers) == 5
    evaluation = page.request.get(f"{running.address}/out/evaluation.html").text()
    told = " ".join(unescape(re.sub("<[^>]+>", " ", evaluation)).split())
    sheet = save(page, "rides-anonymized.datasheet.md", tmp_path).read_text("utf-8")
    for asked_and_answered in answers:
        question, answer = asked_and_answered.split("\n")
        assert " ".join(answer.split()) in told
        assert question in sheet

    # Papers are the publisher's.
    fill(page, "Title", "Rides of customers")
    fill(page, "Contact", "nobody")
    mark = "[...document.querySelectorAll('.finding button, iframe')].map((node) => {}).join('')"
    page.evaluate(mark.format("node.id = 'seen'"))
    press(page, "Save them in the documents")
    seen_beside(page, "Contact must be an e-mail address")
    # What did not change was not drawn anew: no click on it is lost.
    assert page.evaluate(mark.format("node.id")).startswith("seenseen")
    fill(page, "Contact", "data@example.com")
    press(page, "Save them in the documents")
    expect(page.get_by_role("alert")).to_have_count(0)
    released = save(page, "rides-anonymized.parquet", tmp_path)
    sheet = save(page, "rides-anonymized.datasheet.md", tmp_path).read_text("utf-8")
    assert "Rides of customers" in sheet
    record = page.request.get(f"{running.address}/out/evaluation.record.html").text()
    assert "data@example.com" in record
    assert "not for publication" not in save(page, "map.public.html", tmp_path).read_text("utf-8")
    assert run("check", str(released), "-k", "3").code == 0

    # What helps is a button, and another format takes its place; both releases stand side by side.
    choose(page, "Format of the release", "CSV")
    old = page.locator(".old").last
    expect(old).to_contain_text("Out of date")
    for name in ("rides-anonymized.csv", "map.public.html", "settings.toml"):
        assert page.request.get(f"{running.address}/out/{name}").status == 404
    verdict.get_by_role("button", name="One trip per person").click()
    page.wait_for_timeout(300)
    expect(page.get_by_role("button", name="Stop")).to_be_hidden(timeout=300_000)
    compared = section(page, "4. Compare releases")
    expect(compared.get_by_role("row").first.get_by_role("columnheader")).to_have_count(3)
    expect(compared).to_contain_text("Which column names the person? Kunde")
    expect(compared).to_contain_text("One trip of each person")
    expect(compared).to_contain_text("knows")
    save(page, "rides-anonymized.csv", tmp_path)
    assert page.request.get(f"{running.address}/out/rides-anonymized.parquet").status == 404

    # Another file does not come in silence; with its file, all that was found of it is gone.
    page.get_by_label("Choose files").set_input_files(
        rides(tmp_path, "more.csv", "trip;user;lat;lon", people=4)
    )
    expect(old.get_by_role("button", name="Make the release again")).to_be_visible()
    page.get_by_role("button", name="Remove rides.csv").click()
    expect(verdict).to_contain_text("Make a release first")
    assert "people" not in files.inner_text()
    assert "Kunde" not in files.inner_text()
    assert compared.get_by_role("row").count() == 0
    clear(page)
    press(page, "Read the files")
    seen_beside(page, "Choose a file")


def test_what_cannot_be_released_is_said_beside_the_button(page: Page, tmp_path: Path) -> None:
    page.set_viewport_size({"width": 1280, "height": 720})
    fill(page, "At least this many behind", "4")
    choose(page, "How many trips of one person are released?", "All trips of each person")
    bring(page, rides(tmp_path, "brought.csv", "trip;user;lat;lon", people=1, trips=9))
    press(page, "Make the release")
    seen_beside(page, "come from 1 subject, and k = 4 needs 4")


def test_the_sample_is_looked_into_and_drawn(page: Page, tmp_path: Path) -> None:
    clear(page)
    page.get_by_role("button", name="Use the sample").click()
    press(page, "Read the files")
    expect(section(page, "1. Files")).to_contain_text("They become")
    expect(page.get_by_label("Trips without a name")).to_be_visible()
    picture = tmp_path / "studio.png"
    draw(page, picture, "1. Files")
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert len(picture.read_bytes()) > 20_000  # a blank page has a tenth of it


def test_where_nobody_is_named_no_trips_are_said_to_be_of_one_person(
    page: Page, tmp_path: Path
) -> None:
    clear(page)
    (tmp_path / "track.gpx").write_text(track(points=100), "utf-8")
    page.get_by_label("Choose files").set_input_files(tmp_path / "track.gpx")
    press(page, "Read the files")
    expect(section(page, "1. Files")).to_contain_text("k counts recordings: nobody is named")
    expect(page.get_by_label("Trips without a name")).to_have_count(0)


def test_a_mistake_is_told(page: Page, tmp_path: Path) -> None:
    clear(page)
    fill(page, "Or the path", "nowhere.gpx")
    page.get_by_role("button", name="Add").click()
    seen_beside(page, "There is no nowhere.gpx")

    letter = tmp_path / "letter.gpx"
    letter.write_text("Dear Sir or Madam", "utf-8")
    page.get_by_label("Choose files").set_input_files(letter)
    press(page, "Read the files")
    seen_beside(page, "letter.gpx")
    page.get_by_role("button", name="Remove letter.gpx").click()
    page.get_by_label("Choose files").set_input_files(
        rides(tmp_path, "rides.csv", "trip;user;lat;lon", people=4)
    )
    expect(page.get_by_role("button", name="Remove rides.csv")).to_be_visible()
    page.get_by_text("Area, windows").click()
    fill(page, re.compile("^Area"), "atlantis")
    press(page, "Read the files")
    seen_beside(page, "atlantis")
    assert barriers(page) == ""
    fill(page, re.compile("^Area"), "")


def test_what_is_at_work_can_be_stopped(page: Page) -> None:
    bring(page, sample())
    page.get_by_role("button", name="Make the release").click()
    page.get_by_role("button", name="Stop").click()
    seen_beside(page, "Stopped.")
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


@pytest.fixture(scope="module")
def apart(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Studio]:
    """A studio that opens its page by itself, on a disk that is soon full."""
    folder = tmp_path_factory.mktemp("apart")
    seen = folder / "seen"
    opener = folder / "opener"
    opener.write_text(f"#!/bin/sh\nps -ww -o args= -p $$ > {seen}.part; mv {seen}.part {seen}\n")
    opener.chmod(0o755)
    with pytest.MonkeyPatch.context() as patch, ExitStack() as stack:
        patch.setenv("BROWSER", str(opener))
        with files_of_at_most(400_000):
            opened = stack.enter_context(studio(browser, folder, alone=False))
        yield opened


def test_another_user_of_the_machine_finds_no_way_in(browser: Browser, apart: Studio) -> None:
    """The page opens by a file, whose name alone stands on the browser's command line."""
    seen = apart.folder / "seen"
    for _ in range(200):
        if seen.exists():
            break
        time.sleep(0.1)
    words = seen.read_text("utf-8").split()
    assert apart.code not in " ".join(words)
    (door,) = (word for word in words if word.startswith("file://"))
    path = Path(door.removeprefix("file://"))
    assert mode(path) == 0o600
    assert mode(path.parent.parent) == 0o700

    page = browser.new_context().new_page()
    page.goto(door)
    expect(page.get_by_role("heading", name="1. Files")).to_be_visible()
    assert page.url == f"{apart.address}/"
    page.go_back()
    assert page.url != f"{apart.address}/enter"
    page.context.close()

    if os.geteuid() != 0:
        pytest.skip("only root can ask as another user")
    commands = _as_nobody("ps", "-eww", "-o", "args=")
    assert "studio" in commands.stdout
    assert apart.code not in commands.stdout
    assert _as_nobody("cat", str(path)).returncode != 0
    assert _as_nobody("cat", f"/proc/{apart.process.pid}/environ").returncode != 0


def _as_nobody(*words: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(words, user=65534, capture_output=True, text=True, check=False)


def test_what_cannot_be_kept_is_said_and_nothing_is_left_at_the_end(
    apart: Studio, tmp_path: Path
) -> None:
    """It ends the studio."""
    large, small = tmp_path / "large.gpx", tmp_path / "small.gpx"
    large.write_text(track(points=20_000), "utf-8")
    small.write_text(track(), "utf-8")
    page = apart.open()
    # Not above: each worker would load the server's library for this one test.
    from trajanon.studio.server_and_uploads import LARGEST_UPLOAD

    trouble = page.get_by_role("alert")
    page.get_by_label("Choose files").set_input_files(large)
    expect(trouble).to_contain_text("large.gpx could not be stored")
    too_large = f"{{method: 'PUT', headers: {{'x-bytes': '{LARGEST_UPLOAD + 1}'}}}}"
    page.evaluate(f"fetch('/files/huge.gpx', {too_large})")
    expect(trouble).to_contain_text("it is over a gigabyte: enter its path instead")
    asked = (("/files/a%00b.gpx", "1"), ("/files/a.gpx", "many"), ("/files/a.gpx", "9" * 5_000))
    for path, size in asked:
        put = "(await fetch('{}', {{method: 'PUT', headers: {{'x-bytes': '{}'}}}})).status"
        assert page.evaluate(f"(async () => {put.format(path, size)})()") == 400
    assert page.get_by_role("button", name="Remove", exact=True).count() == 0
    page.get_by_label("Choose files").set_input_files(small)
    expect(page.get_by_role("button", name="Remove small.gpx")).to_be_visible()
    kept = [one for one in Path(gettempdir()).glob(".trajanon-studio.*") if _pid(apart, one)]
    assert len(kept) == 1
    assert kept[0].stat().st_mode & 0o777 == 0o700
    expect(page.get_by_text(f"Uploads and results are in {kept[0]}")).to_be_visible()
    page.get_by_role("button", name="Remove everything and end").click()
    page.get_by_role("button", name="Keep working").click()
    expect(page.get_by_role("button", name="Remove and end")).to_be_hidden()
    assert (kept[0] / "trajanon-studio" / "files" / "small.gpx").exists()
    page.get_by_role("button", name="Remove everything and end").click()
    page.get_by_role("button", name="Remove and end").click()
    expect(page.get_by_role("status")).to_contain_text("All files of the studio are removed")
    assert apart.process.wait(20) == 0
    assert not kept[0].exists()


def _pid(opened: Studio, folder: Path) -> bool:
    return folder.name.split(".")[2].split("-")[0] == str(opened.process.pid)
