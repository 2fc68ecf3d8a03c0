from collections import Counter
from pathlib import Path
from typing import get_args

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from madrid_walks import walks_in_madrid
from planted import UNTIMED

import trajanon
from trajanon.common.arrays import Floats, renumbered
from trajanon.common.errors import BadInput
from trajanon.common.search_and_release_options import MethodName, RefinementName, RowsName
from trajanon.grouping.microaggregation import METHODS, REFINEMENTS
from trajanon.release.originals import matched
from trajanon.release.report_files import checked
from trajanon.trajectories.trajectories import OSM_ATTRIBUTION, ReleasedTrajectories, Trajectories

pytestmark = pytest.mark.usefixtures("few_moves")

seeds = st.integers(0, 10**6)

every_format = pytest.mark.parametrize("suffix", UNTIMED)


def lines(release: ReleasedTrajectories) -> Counter[bytes]:
    return Counter(line.tobytes() for line in release.points)


@given(
    suffix=st.sampled_from(UNTIMED),
    seed=seeds,
    n=st.integers(2, 40),
    m=st.integers(2, 6),
    k=st.integers(2, 6),
    people=st.none() | st.integers(2, 20),
    method=st.sampled_from(sorted(METHODS.keys() - {"decomposition"})),  # it takes seconds
    refine=st.sampled_from(["none", *REFINEMENTS]),
    where=st.sampled_from([(40.4, -3.7), (0.0, 0.0), (-89.9, 179.9), (89.9, -179.9)]),
    spread=st.sampled_from([0.0, 1e-8, 1e-4, 0.05]),
    rows=st.sampled_from(get_args(RowsName)),
)
@settings(max_examples=15)
def test_what_is_released_passes_the_check(
    tmp_path: Path,
    suffix: str,
    seed: int,
    n: int,
    m: int,
    k: int,
    people: int | None,
    method: MethodName,
    refine: RefinementName,
    where: tuple[float, float],
    spread: float,
    rows: RowsName,
) -> None:
    rng = np.random.default_rng(seed)
    subject = None if people is None else renumbered(rng.integers(0, people, n))
    assume(n >= k and (subject is None or subject.max() + 1 >= k))
    original = Trajectories(
        rng.uniform(-spread, spread, (n, m, 2)) + where,
        subject=subject,
        trace=None if subject is None else np.arange(n),
        provenance={"attribution": OSM_ATTRIBUTION} if seed % 2 else {},
    )
    try:
        release = trajanon.anonymize(original, k, method=method, refine=refine, rows=rows)
    except BadInput as error:
        assume("smaller area" not in str(error))
        raise
    path = tmp_path / f"{suffix[1:]}{suffix}"  # each has a report of its own
    release.write(path)
    findings = trajanon.check(path, k)
    assert findings.holds, findings.problems
    line = matched(original, release.trajectories, checked(release.report)).labels
    people_of = np.arange(n) if subject is None else subject
    pairs_of = set(zip(line.tolist(), people_of.tolist(), strict=True))
    assert findings.trajectories == len(pairs_of)
    assert findings.groups <= release.report["groups"]  # means may round to the same
    assert findings.smallest >= k
    assert lines(trajanon.read_release(path)) == lines(release.trajectories)


def pairs(points: Floats) -> set[tuple[float, ...]]:
    return {tuple(pair) for pair in np.round(points, 7).reshape(-1, 2).tolist()}


def test_no_original_place_and_no_subject_is_in_a_release() -> None:
    original = walks_in_madrid()
    released = trajanon.anonymize(original, 4).trajectories
    assert not pairs(original.points) & pairs(released.points)
    assert released.subject is None
    assert released.trace is None
    assert dict(released.provenance) == {"attribution": OSM_ATTRIBUTION, "counted": "subjects"}


@every_format
def test_nothing_of_the_source_is_in_the_bytes_of_a_release(tmp_path: Path, suffix: str) -> None:
    original = walks_in_madrid()
    path = tmp_path / f"release{suffix}"
    trajanon.anonymize(original, 4).write(path)
    raw = path.read_bytes()
    assert original.subject is not None
    assert original.trace is not None
    for number in (*original.subject, *original.trace):
        assert str(number).encode() not in raw
        assert int(number).to_bytes(8, "little") not in raw
    for word in (b"alice", b"source", b"subject", b"trace"):
        assert word not in raw
    values = np.round(original.points, 7)
    for value in values[values != np.round(values, 5)]:  # others may be released by chance
        assert f"{value:.7f}".encode() not in raw
        assert np.float64(value).tobytes() not in raw


@pytest.mark.usefixtures("new_keys")
def test_groups_and_lines_follow_from_the_key_and_the_seed() -> None:
    original = walks_in_madrid(60)
    one, two = (trajanon.anonymize(original, 3, seed=7) for _ in range(2))
    assert one.report["labels"] != two.report["labels"]
    assert one.report["key_fingerprint"] != two.report["key_fingerprint"]
    assert not lines(one.trajectories) & lines(two.trajectories)
    key = bytes([*range(31), 1])
    again = trajanon.anonymize(original, 3, seed=7, key=key)
    assert np.array_equal(again.trajectories.points, one.trajectories.points)
    assert {**again.report, "stages": 0} == {**one.report, "stages": 0}
    other = trajanon.anonymize(original, 3, seed=8, key=key)
    assert other.report["labels"] != one.report["labels"]


def test_a_line_has_two_points() -> None:
    with pytest.raises(BadInput, match="two points or more, and these trajectories have 1"):
        trajanon.anonymize(Trajectories(np.zeros((4, 1, 2))), 2)


def test_the_input_is_not_changed() -> None:
    original = walks_in_madrid()
    before = original.points.copy()
    original.points.flags.writeable = False
    trajanon.anonymize(original, 4)
    assert np.array_equal(original.points, before)


# The report


def longitudes(*degrees: float) -> Trajectories:
    """Trajectories at these longitudes, each of two points."""
    points = np.zeros((len(degrees), 2, 2))
    points[:, :, 1] = np.array(degrees)[:, None]
    return Trajectories(points)


@pytest.mark.parametrize("west", [-179.9, -122.4])
def test_groups_on_either_side_of_the_antimeridian_are_released(west: float) -> None:
    both = longitudes(139.7, west, 139.8, west + 0.1)
    released = trajanon.anonymize(both, 2, as_published=True).trajectories.points[:, 0, 1]
    assert sorted(released) == pytest.approx([west + 0.05] * 2 + [139.75] * 2)


def test_a_group_on_both_sides_of_the_antimeridian_has_no_mean() -> None:
    """The mean of 179.9 and -179.9 would be Greenwich."""
    says = "1 group spans more than 180 degrees .* lower `k`"
    with pytest.raises(BadInput, match=says):
        trajanon.anonymize(longitudes(179.9, -179.9, 179.8, -179.8), 4)
    one_side = longitudes(179.9, 179.9, 179.8, 179.8)
    assert (
        trajanon.anonymize(one_side, 4, as_published=True).trajectories.points[..., 1].min() > 179
    )


def test_a_trajectory_that_crosses_the_antimeridian_is_refused() -> None:
    points = longitudes(*[179.9] * 4).points.copy()
    points[2, 1, 1] = -179.9
    with pytest.raises(BadInput, match=r"^1 group spans .*`area`"):
        trajanon.anonymize(Trajectories(points), 2)
