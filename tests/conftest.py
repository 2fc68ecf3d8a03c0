import gc
import logging
import signal
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from functools import cache
from multiprocessing.util import get_temp_dir
from pathlib import Path
from typing import TYPE_CHECKING, Any

import efforts
import numpy as np
import platformdirs
import pytest
import typer.main
from browsing import CHROMIUM, DESKTOP, TILE, Open, Opened
from commands import Answer, Run, unannounced
from evaluations import Evaluated, released
from hypothesis import HealthCheck, settings
from naive_refine import search_in_blocks
from plain import plain_means

import trajanon
from trajanon.__main__ import main
from trajanon.data import sample
from trajanon.extract import extract
from trajanon.files.trajectory_files import write_trajectories
from trajanon.maps import html
from trajanon.trajectories.trajectories import Trajectories

if TYPE_CHECKING:
    import folium
    from object_store import ObjectStore
    from playwright.sync_api import Browser, ConsoleMessage, Route

settings.register_profile(
    "trajanon",
    derandomize=True,
    deadline=None,
    database=None,
    max_examples=20,
    suppress_health_check=[
        HealthCheck.too_slow,
        HealthCheck.function_scoped_fixture,  # tmp_path: each example writes it anew
    ],
)
settings.load_profile("trajanon")


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Name bytes by their argument: gzip writes the second into its first bytes,
    and workers that collect in different seconds must find the same tests."""
    return argname if isinstance(val, bytes) else None


LONGEST = [
    "test_studio_page",
    "test_docs",
    "test_real_data",
    "test_clusters",
    "test_page_panel_in_browser",
    "test_page_lines_in_browser",
    "test_microaggregation",
    "test_column_generation",
    "test_compiled",
    "test_benchmark_figures",
    "test_ledger_series",
    "test_microaggregation_seed",
    "test_reproduce",
    "test_tables_measured_again",
    "test_alignment",
]
"""Modules that take longest begin, so that all workers end at the same time."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Order modules by how long they take; the others follow as they are."""
    place = {name: place for place, name in enumerate(LONGEST)}
    items.sort(key=lambda item: place.get(item.path.stem, len(LONGEST)))


def pytest_collection_finish() -> None:
    """Keep what was imported and collected out of each search for garbage: it stays to the end."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True, scope="session")
def stoppable() -> Iterator[None]:
    """Hear Ctrl-C, and let commands hear it: a shell's background jobs are started deaf to it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(name="plain_means")
def lines_are_plain_means() -> Iterator[None]:
    with plain_means():
        yield


@pytest.fixture(autouse=True)
def logged_warnings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Log what the package warns of, so that caplog shows it as a command does."""
    logger = logging.getLogger("trajanon")
    monkeypatch.setattr(
        warnings, "showwarning", lambda message, *_, **__: logger.warning("%s", message)
    )


@pytest.fixture(autouse=True, scope="session")
def scratch() -> Iterator[None]:
    """Keep what stopped runs leave in a folder that goes with the tests."""
    get_temp_dir()  # that of multiprocessing goes when the process ends, which is later
    with (
        tempfile.TemporaryDirectory(prefix="tests-", ignore_cleanup_errors=True) as folder,
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setenv("TMPDIR", folder)
        patch.setattr(tempfile, "tempdir", folder)
        yield


@pytest.fixture(autouse=True, scope="session")
def one_key(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep one key where a holder's is: no test writes to a home, and none fails by chance."""
    home = tmp_path_factory.mktemp("home")
    (home / "trajanon").mkdir()
    key = home / "trajanon" / "holder.key"
    key.write_bytes(bytes(range(32)))
    key.chmod(0o600)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_DATA_HOME", str(home))
        yield


@pytest.fixture
def new_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give each release a key of its own, as of different holders."""
    keys = iter(range(1, 256))
    monkeypatch.setattr(
        "trajanon.release.plan.holders_key", lambda _: bytes([*range(31), next(keys)])
    )


@pytest.fixture
def far_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let lines lie farther off than trajectories are long, as those of toys do."""
    monkeypatch.setattr("trajanon.release.assembled_release.refuse_far", lambda *_: None)


@pytest.fixture
def book(tmp_path: Path) -> Path:
    """Where a ledger may be, of which there is none yet."""
    return tmp_path / "trips.ledger"


@pytest.fixture(scope="session")
def madrid() -> Iterator[Trajectories]:
    """The bundled sample, extracted; no test may change its arrays."""
    trajectories = extract(str(sample()), "madrid", windows=True, per_recording=None, max_gap=500)
    tracks = trajectories.tracks
    assert tracks is not None
    arrays: list[Any] = [trajectories.points, trajectories.subject, trajectories.trace]
    for array in arrays:
        array.flags.writeable = False
    # Kernels would be compiled once more for arrays that cannot be written.
    arrays = [tracks.points.ticks, tracks.first, tracks.run, tracks.start]
    before = [array.tobytes() for array in arrays]
    yield trajectories
    assert [array.tobytes() for array in arrays] == before


@pytest.fixture(scope="session")
def one_each(madrid: Trajectories) -> Trajectories:
    """A window of each recording of the sample."""
    assert madrid.trace is not None
    return madrid.take(np.unique(madrid.trace, return_index=True)[1])


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory, one_each: Trajectories) -> Path:
    """Trajectories, a release and its report, under the names of the commands."""
    folder = tmp_path_factory.mktemp("made")
    write_trajectories(folder / "trajectories.parquet", one_each)
    release = trajanon.anonymize(one_each, k=4, method="mdav", refine="none")
    release.write(folder / "anonymized.parquet")
    return folder


@pytest.fixture(scope="session")
def slid_sample(one_each: Trajectories) -> Evaluated:
    """The evidence for a release of the sample whose windows slid, and its report."""
    release, report = released(one_each, 3)
    return trajanon.evaluate(one_each, release, report), report


@pytest.fixture
def here(made: Path, run: Run, tmp_path: Path) -> Path:
    """A folder of one's own that holds them."""
    for path in made.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    return tmp_path


@pytest.fixture(scope="session")
def store() -> Iterator["ObjectStore"]:
    """An S3 server on this computer."""
    from object_store import serving

    with serving() as store:
        yield store


@pytest.fixture
def bucket(store: "ObjectStore") -> str:
    """The URL of an empty bucket."""
    return store.new_bucket()


@pytest.fixture(scope="module")
def browser() -> Iterator["Browser"]:
    """A headless Chromium."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        flags = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=flags)
        yield started
        started.close()


@pytest.fixture
def see(browser: "Browser", tmp_path: Path) -> Iterator[Open]:
    """Open maps; every request but those for tiles fails the test, as do complaints."""
    opened: list[Opened] = []

    def visit(
        drawn: "folium.Map | str", size: tuple[int, int] = DESKTOP, touch: bool = False
    ) -> Opened:
        file = tmp_path / f"{len(opened)}.html"
        file.write_text(drawn if isinstance(drawn, str) else html(drawn), "utf-8")
        width, height = size
        page = browser.new_page(viewport={"width": width, "height": height}, has_touch=touch)
        page.set_default_timeout(20_000)
        seen = Opened(page)
        opened.append(seen)

        def answer(route: "Route") -> None:
            address = route.request.url
            if address.startswith("file:"):
                route.continue_()
                return
            seen.requests.append(address)
            if address.startswith("https://tile.openstreetmap.org/"):
                route.fulfill(body=TILE, content_type="image/png")
            else:
                route.abort()

        def console(message: "ConsoleMessage") -> None:
            if message.type in ("error", "warning"):
                seen.complaints.append(message.text)

        page.on("console", console)
        page.on("pageerror", lambda error: seen.complaints.append(str(error)))
        page.route("**/*", answer)
        page.goto(file.as_uri())
        return seen

    yield visit
    for each in opened:
        each.page.close()
        tiles = "https://tile.openstreetmap.org/"
        assert [one for one in each.requests if not one.startswith(tiles)] == []
        assert each.complaints == []


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where other programs work: nothing may stay there."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    return folder


@pytest.fixture
def few_moves() -> Iterator[None]:
    """A search that is soon over."""
    with efforts.few_moves():
        yield


@pytest.fixture
def few_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Patient attacks try five groups: 200 take seconds."""
    monkeypatch.setattr(
        "trajanon.evaluation.attacks.shared_by_attacks_with_tracks.TARGETS_TRIED", 5
    )


@pytest.fixture(params=[2_500, 9], ids=["whole", "in blocks"])
def block(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """Windows of a block at most: all are one, or they fall into several."""
    size: int = request.param
    search_in_blocks(monkeypatch, size)
    return size


_built_once = cache(typer.main.get_command)
"""The tree of commands: a process builds it once, but for tests, which run many."""


@pytest.fixture
def run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> Iterator[Run]:
    """Run a command in an empty folder, in this process, without waiting."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setattr(platformdirs, "user_cache_path", lambda _: tmp_path / ".cache")
    monkeypatch.setattr(time, "sleep", lambda _: None)
    monkeypatch.setattr(logging, "lastResort", logging.lastResort)  # main changes it
    monkeypatch.setattr(typer.main, "get_command", _built_once)

    def run(*arguments: object) -> Answer:
        monkeypatch.setattr(sys, "argv", ["trajanon", *map(str, arguments)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main()
        captured = capsys.readouterr()
        return Answer(ended.value.code or 0, captured.out, unannounced(captured.err))

    logger = logging.getLogger("trajanon")
    handlers, level = logger.handlers, logger.level
    yield run
    logger.handlers = handlers
    logger.setLevel(level)
