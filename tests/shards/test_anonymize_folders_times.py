"""Folders of parts with times: what is promised holds, and is what a file of all rows gets."""

import json
import re
from collections import Counter
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from commands import FAST, Run
from efforts import few_moves
from hypothesis import given, settings
from hypothesis import strategies as st
from naive_sliding import town
from shards import hours, labels_of, out_of, released_with_times, shards_of, walks, write_parts

import trajanon
from trajanon.common.arrays import Floats, renumbered
from trajanon.common.errors import BadInput
from trajanon.common.search_and_release_options import ReleaseSettings, RowsName
from trajanon.data import sample
from trajanon.files.geoparquet import write_released
from trajanon.grouping import loss
from trajanon.grouping.group_means import group_means
from trajanon.grouping.k_promise import subjects_per_group
from trajanon.shards.anonymize_folders import anonymize_parts
from trajanon.trajectories.release_timing import timing_of
from trajanon.trajectories.trajectories import Trajectories


@settings(max_examples=15)
@given(
    n=st.integers(16, 160),
    people=st.integers(4, 60),
    k=st.integers(2, 4),
    rows=st.integers(12, 60),
    seed=st.integers(0, 2**32 - 1),
    times=st.sampled_from(["of-day", "of-week", "date"]),
    step=st.sampled_from([60, 300, 3_600]),
    worth=st.sampled_from([0.0, 3.0, 100.0]),
    way=st.sampled_from(get_args(RowsName)),
)
@pytest.mark.usefixtures("plain_means")
def test_every_group_bears_its_mean_times(
    tmp_path_factory: pytest.TempPathFactory,
    n: int,
    people: int,
    k: int,
    rows: int,
    seed: int,
    times: str,
    step: int,
    worth: float,
    way: str,
) -> None:
    folder = tmp_path_factory.mktemp("run")
    subject = np.random.default_rng(seed).integers(0, people, n)
    subject[:k] = range(k)
    trajectories = replace(hours(np.round(walks(n, seed), 4), seed), subject=subject)
    source = write_parts(folder / "trips", trajectories, 70)
    asked: dict[str, Any] = {"times": times, "time_step": step, "minute_worth": worth}
    how: dict[str, Any] = {"rows": way, "effort": "fast", **asked}
    with shards_of(rows):
        report = anonymize_parts(str(source), str(folder / "out"), k, **how)
    labels = renumbered(labels_of(folder / "out"))
    assert len(labels) == n
    assert subjects_per_group(labels, subject).min() >= k

    timing = timing_of(trajectories, ReleaseSettings(**asked))
    assert timing is not None
    assert timing.clock.timezone == "Europe/Madrid"
    mine = timing.seconds(trajectories)
    lines = np.round(group_means(trajectories.records, labels), 7) + 0.0
    when = np.round(group_means(mine, labels) / step) * step
    pairs = [
        (lines[group].tobytes(), when[group].tobytes())
        for group, _ in set(zip(labels.tolist(), subject.tolist(), strict=True))
    ]
    found = released_with_times(folder / "out")
    assert found == Counter(pairs)
    assert min(found.values()) >= k
    assert report["lines"] == len(found)

    told = report["times"]
    assert (told["times"], told["step"]) == (timing.clock.times, timing.clock.step)
    for name, off in (
        ("departure_error", np.abs(when[labels, 0] - mine[:, 0])),
        ("duration_error", np.abs(np.ptp(when, axis=1)[labels] - np.ptp(mine, axis=1))),
    ):
        assert told[name]["mean"] == pytest.approx(off.mean(), rel=1e-9)
        assert told[name]["max"] == pytest.approx(off.max(), rel=1e-9)
        for point, share in (("median", 0.5), ("p95", 0.95)):
            true = np.quantile(off, share, method="inverted_cdf")
            assert told[name][point] == pytest.approx(true, rel=0.00201, abs=1e-3)

    # The loss is what can be computed from all rows at once, of places as written.
    lost = loss.loss_to(trajectories.records, lines, labels)
    assert report["information_loss"] == pytest.approx(lost, rel=1e-6)


def test_what_the_departure_is_worth_decides_on_groups(tmp_path: Path) -> None:
    source = write_parts(tmp_path / "trips", hours(walks(240)))
    off = []
    for worth in (0.0, 3.0, 300.0):
        with shards_of(60), few_moves():
            report = anonymize_parts(
                str(source), str(tmp_path / "out"), 3, times="of-day", minute_worth=worth
            )
        off.append(report["times"]["departure_error"]["mean"])
    assert off[0] > 1.2 * off[1] > 1.4 * off[2]


def test_times_are_neither_read_nor_released_unless_they_are_asked_for(tmp_path: Path) -> None:
    trajectories = hours(walks(100))
    source = write_parts(tmp_path / "trips", without(trajectories, slice(50, 100)), 50)
    with shards_of(50):
        report = anonymize_parts(str(source), str(out_of(tmp_path)), 3, effort="fast")
    assert (report["n"], report["unit"], report["times"]) == (100, "trajectory", None)
    (part,) = out_of(tmp_path).iterdir()
    assert pq.read_schema(part).names == ["id", "geometry"]
    with pytest.raises(BadInput, match=r"needs times, and 50 of 100 have none"):
        anonymize_parts(str(source), str(out_of(tmp_path)), 3, times="date")


def without(trajectories: Trajectories, some: slice) -> Trajectories:
    assert trajectories.times is not None
    times = trajectories.times.copy()
    times[some] = np.nan
    return replace(trajectories, times=times)


def at(trajectories: Trajectories, times: Floats) -> Trajectories:
    return replace(trajectories, times=np.broadcast_to(times, trajectories.points.shape[:2]))


TRIPS = hours(walks(90))


@pytest.mark.parametrize(
    ("trajectories", "options"),
    [
        (without(TRIPS, slice(67, 75)), {}),
        (at(TRIPS, np.arange(90.0)[:, None]), {}),
        (at(TRIPS, np.arange(4.0)), {}),
        (replace(TRIPS, provenance={"times": "of-day"}), {}),
        (replace(town(1, 90), times=TRIPS.times), {}),
        (TRIPS, {"timezone": "Mars/Base"}),
        (TRIPS, {"times": None, "time_step": 60}),
    ],
)
def test_what_a_file_is_refused_for_parts_are_refused_for(
    tmp_path: Path, trajectories: Trajectories, options: dict[str, Any]
) -> None:
    options = {"times": "of-day"} | options
    source = write_parts(tmp_path / "trips", trajectories, 40)
    with pytest.raises(BadInput) as of_file:
        trajanon.anonymize(trajectories, 3, **options)
    said = re.escape(str(of_file.value))
    for in_shards in (nullcontext(), shards_of(45)):
        with in_shards, pytest.raises(BadInput, match=said):
            anonymize_parts(str(source), str(out_of(tmp_path)), 3, **options)
    assert [path.name for path in tmp_path.iterdir()] == ["trips"]


@pytest.mark.parametrize(
    ("times", "said"),
    [  # of each of three rows
        ([1.0, 2.0, 3.0], "part-00000.parquet: row 0 has 3 times for 4 points"),
        ([1.0, 2.0, None, 3.0], "part-00000.parquet: trajectory 0 has times at some points only"),
        ([1.0, 3.0, 2.0, 4.0], "part-00000.parquet: trajectory 0 has times that run back"),
        ([1.0, 2.0, 3.0, 1e300], "part-00000.parquet: trajectory 0 has a time beyond the years"),
        ([1, 2, 3, 2**63 - 1], "part-00000.parquet: trajectory 0 has a time beyond the years"),
        ("08:00", "needs times, and 3 of 3 have none"),
        (None, "needs times, and 3 of 3 have none"),
    ],
)
def test_odd_times_are_named_with_their_part(tmp_path: Path, times: Any, said: str) -> None:
    source = write_parts(tmp_path / "trips", replace(TRIPS.take(np.arange(3)), times=None))
    path = source / "part-00000.parquet"
    kind = None if times else pa.list_(pa.float64())
    table = pq.read_table(path).append_column("times", pa.array([times] * 3, kind))
    pq.write_table(table, path)
    with pytest.raises(BadInput, match=re.escape(said)):
        anonymize_parts(str(source), str(out_of(tmp_path)), 2, times="of-day")


def test_a_time_that_is_rare_in_all_parts_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("trajanon.release.release.ROWS_PER_PART", 50)
    source = write_parts(tmp_path / "trips", hours(walks(200)))
    anonymize_parts(str(source), str(out_of(tmp_path)), 4, times="of-day", effort="fast")
    findings = trajanon.check(out_of(tmp_path), 4)
    assert findings.holds, findings.problems
    path = out_of(tmp_path) / "part-00002.parquet"
    release, first = trajanon.read_release(path), int(pq.read_table(path)["id"][0].as_py())
    assert release.times is not None
    times = release.times.copy()
    times[3] += 300
    with path.open("wb") as file:
        write_released(file, replace(release, times=times), first)
    told = trajanon.check(out_of(tmp_path), 4).problems[-1]
    assert "occur fewer than 4 times (the rarest 1 time)" in told


def test_from_traces_to_a_checked_folder(run: Run) -> None:
    rows = ("--partition", 40, "--out", "parts")
    extracted = run("extract", sample(), "--bbox", "madrid", *rows)
    assert extracted.code == 0, extracted
    assert len(list(Path("parts").iterdir())) > 1
    timed = ("anonymize", "parts", "-k", 3, *FAST, "--times", "of-day")
    answer = run(*timed, "--time-step", "10min")
    assert answer.code == 0, answer
    assert "Departures are " in answer.out
    assert re.search(r"Wrote (\d+ rows for )?\d+ trips to anonymized\. ", answer.out)
    assert "Windows stay" not in answer.out
    assert run("check", "anonymized", "-k", 3).code == 0
    report = json.loads(run(*timed, "--minute-worth", 0, "--json").out)
    assert report["unit"] == "trip"
    assert report["times"]["minute_worth"] == 0.0
    said = run("anonymize", "parts", "-k", 3, "--timezone", "Europe/Madrid").sentence
    assert "--timezone Europe/Madrid is for releases with times: add --times of-day" in said
