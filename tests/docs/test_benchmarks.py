"""The benchmarks, where no measurement is needed: units, words and what they do without results."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from itertools import islice
from pathlib import Path
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"

Imported = Callable[[str], ModuleType]


@pytest.fixture
def imported(monkeypatch: pytest.MonkeyPatch) -> Iterator[Imported]:
    monkeypatch.syspath_prepend(BENCHMARKS)
    yield import_module
    for name in ("corridors", "eta", "figures_check", "growth", "homes", "measures"):
        sys.modules.pop(name, None)


def test_a_gigabyte_has_a_thousand_million_bytes(
    imported: Imported, monkeypatch: pytest.MonkeyPatch
) -> None:
    measures = imported("measures")
    used = SimpleNamespace(ru_maxrss=1_000_000)  # of 1,024 bytes
    monkeypatch.setattr(measures.resource, "getrusage", lambda _: used)
    assert measures.peak_gb() == 1.024
    assert "used.ru_maxrss * 1024 / 1e9" in measures.WATCH


def test_a_folder_with_a_blank_stays_one_word(
    imported: Imported, monkeypatch: pytest.MonkeyPatch
) -> None:
    figures_check = imported("figures_check")
    monkeypatch.setattr(figures_check, "_PLACES", {"SAMPLE": "/my data/sample"})
    words = figures_check.words_of("extract SAMPLE/a.gpx 'b c'")
    assert words[3:] == ["extract", "/my data/sample/a.gpx", "b c"]


def test_scripts_make_data_for_figures(imported: Imported) -> None:
    _, script, file = imported("figures_check").words_of("python GENERATOR/commuters.py a.csv")
    assert Path(script).is_file()
    assert file == "a.csv"


def test_sizes_that_warm_up_can_be_measured_as_well(
    imported: Imported, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    growth = imported("growth")
    drawn = list[int]()
    monkeypatch.setattr(growth, "alone", lambda _job, _folder, n: drawn.append(n))
    monkeypatch.setattr(growth, "run_command", lambda *_: {"cpu": 1.0, "gb": 2.0})
    growth.commands([300])
    assert drawn == [300, 11_000, 300]
    assert capsys.readouterr().out.splitlines()[-1].startswith("| 300 | 1.0 s, 2.00 GB |")


def test_as_many_commuters_are_drawn_as_are_asked_for(
    imported: Imported, monkeypatch: pytest.MonkeyPatch
) -> None:
    homes = imported("homes")
    monkeypatch.setattr(homes, "TRACKS", (2,))
    monkeypatch.setattr(homes.commuters, "EVERY", 14.0)
    assert [len(tracks) for _, _, tracks in islice(homes.people(), 2)] == [2, 2]
    assert not list(islice(homes.people(), 0))


@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        ([(0, "ready\n5.0\nnan\n7.0\n")], [5.0, np.nan, 7.0]),
        ([(-11, "ready\n5.0\n"), (0, "ready\n7.0\n")], [5.0, np.nan, 7.0]),
        ([(-11, "ready\n"), (0, "ready\n6.0\n7.0\n")], [np.nan, 6.0, 7.0]),
        ([(1, "")], None),
    ],
)
def test_a_router_that_cannot_start_ends_the_benchmark(
    imported: Imported,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    answers: list[tuple[int, str]],
    expected: list[float] | None,
) -> None:
    eta = imported("eta")
    router = object.__new__(eta.Router)
    router.python = router.graph = tmp_path / "none"
    router.folder = router.without_speeds = tmp_path
    monkeypatch.setattr(router, "_run", lambda *_: None)
    monkeypatch.setattr(eta.shutil, "copytree", lambda *_, **__: None)
    runs = iter(answers)

    def run(*_: object, **__: object) -> subprocess.CompletedProcess[str]:
        code, out = next(runs)
        return subprocess.CompletedProcess([], code, out, "no such file")

    monkeypatch.setattr(eta.subprocess, "run", run)
    if expected is None:
        with pytest.raises(SystemExit, match="OSRM cannot start: no such file"):
            router.seconds(["[]\n"] * 3, None)
    else:
        np.testing.assert_array_equal(router.seconds(["[]\n"] * 3, None), expected)
