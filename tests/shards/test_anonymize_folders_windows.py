"""Windows in several shards: they slide, and a folder beside the release tells where each went."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from naive_sliding import room, town, tracks_of
from shards import labels_of, out_of, released, shards_of, write_parts

import trajanon
from trajanon.common import threads_and_dask
from trajanon.files.rounding_order_and_keys_of_lines import line_keys
from trajanon.files.trajectory_files import read_trajectories
from trajanon.grouping.k_promise import subjects_per_group
from trajanon.release.report_files import read_report
from trajanon.shards.anonymize_folders import anonymize_parts

pytestmark = pytest.mark.usefixtures("few_moves")


@settings(max_examples=8, phases=[Phase.generate])
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(12, 40),
    people=st.none() | st.integers(4, 12),
    k=st.integers(2, 3),
    shard=st.integers(5, 30),
    refine=st.sampled_from(["none", "descent", "anneal"]),
)
@pytest.mark.usefixtures("plain_means")
def test_lines_are_means_of_windows_that_slid_on_their_runs(
    tmp_path_factory: pytest.TempPathFactory,
    seed: int,
    n: int,
    people: int | None,
    k: int,
    shard: int,
    refine: str,
) -> None:
    folder = tmp_path_factory.mktemp("run")
    source, out = folder / "trips", folder / "out"
    write_parts(source, town(seed, n, people=people), 11)
    how: dict[str, Any] = {"refine": refine, "seed": seed}
    with shards_of(shard):
        anonymize_parts(str(source), str(out), k, **how)
    report = read_report(out)
    whole, labels = read_trajectories(source), labels_of(out)
    tracks, m = tracks_of(whole), whole.points.shape[1]
    starts = tracks.start if report.alignment is None else np.array(report.alignment.starts)
    line, moved = np.array(report.line_keys)[report.labels], starts - tracks.start
    assert room(tracks, m, starts)
    slid = whole.slid(starts)  # which refuses windows that share ground
    whose = np.arange(n) if whole.subject is None else whole.subject
    assert subjects_per_group(labels, whose).min() >= k

    lines = np.concatenate([trajanon.read_release(part).points for part in sorted(out.iterdir())])
    assert set(line_keys(lines).tolist()) == set(line.tolist())
    place = dict(zip(line_keys(lines).tolist(), lines, strict=True))
    for group in range(labels.max() + 1):
        members = np.flatnonzero(labels == group)
        assert len(set(line[members].tolist())) == 1
        mean = slid.points[members].mean(axis=0)
        assert np.abs(place[int(line[members[0]])] - mean).max() < 0.51e-7
    share = 0.0 if report.alignment is None else report.alignment.slid
    assert share == pytest.approx((moved != 0).mean())
    assert report.n == n
    assert trajanon.check(out, k).holds


def test_windows_slide_and_lose_less_however_they_are_worked_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A seed gives the same lines and groups again, on any number of cores."""
    source = write_parts(tmp_path / "trips", town(5, 120, people=40), 25)
    found = []
    for cores in (1, 3):
        monkeypatch.setattr(threads_and_dask, "cores", lambda cores=cores: cores)
        with shards_of(40):
            anonymize_parts(str(source), str(out_of(tmp_path)), 3, key=bytes(range(32)))
        report = read_report(out_of(tmp_path))
        found.append((released(out_of(tmp_path)), report.labels, report.alignment))
    assert found[0] == found[1]
    assert report.alignment is not None
    assert report.alignment.slid is not None
    assert report.alignment.slid > 0.3
    with shards_of(40):
        stays = anonymize_parts(str(source), str(out_of(tmp_path)), 3, align=False)
    assert stays["alignment"] is None
    assert report.information_loss < stays["information_loss"]
    assert report.displacement.mean < 0.9 * stays["displacement"]["mean"]
