"""Results: whether they are what is chosen now, and what the page says of them."""

from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from quick_commands import Quick

from trajanon.studio.fields import FILE, FOLDER, NOBODY
from trajanon.studio.form_to_commands import MAKE_RELEASE, READ_FILES
from trajanon.studio.results import Columns, people_named, sentences_of_extraction
from trajanon.trajectories.subjects import NAMELESS, NAMELESS_COUNT_AS

CHANGES: dict[str, list[Any]] = {
    "k": [5, None],
    "bbox": ["madrid"],
    "windows": [True],
    "times": ["of-day"],
    "format": [".csv"],
    "trim_ends": [200],
    "lat": ["y"],
    "name": ["rides"],
}


@given(st.lists(st.sampled_from([(name, one) for name in CHANGES for one in CHANGES[name]])))
def test_what_can_be_saved_is_what_is_chosen(
    tmp_path: Path, changes: list[tuple[str, Any]]
) -> None:
    work = Quick(tmp_path)
    assert work.go() == [*MAKE_RELEASE]
    before = dict(work.form.chosen)
    for name, value in changes:
        work.form.chosen[name] = value
        assert not work.results.files_to_save
        assert work.results.are_old(MAKE_RELEASE)
    work.form.chosen.update(before)
    assert "tracks-anonymized.parquet" in work.results.files_to_save
    assert not work.results.are_old(MAKE_RELEASE)
    work.bring("/somewhere/tracks")  # perhaps another of the same name
    assert work.results.are_old(READ_FILES)
    assert not work.results.files_to_save


def test_what_must_not_be_published_has_no_public_files(tmp_path: Path) -> None:
    work = Quick(tmp_path)
    work.kind = "stop"
    assert work.go() == [*MAKE_RELEASE[:-1]]
    assert not work.results.are_old(MAKE_RELEASE)
    private = ["settings.toml", "publisher.toml", "evaluation.html", "map.html"]
    assert [*work.results.files_to_save] == private


def test_releases_are_compared_but_not_formats_of_one(tmp_path: Path) -> None:
    work = Quick(tmp_path)
    for k in (2, 3, 4, 5):
        work.form.chosen["k"] = k
        work.go()
    work.form.chosen["format"] = ".csv"
    work.go()
    assert [release.chosen["k"] for release in work.results.releases] == [5, 4, 3]


EXTRACTION: dict[str, Any] = {
    "trips": True,
    "counts": {
        "points read": 2_000,
        "recordings read": 12,
        "metres of track": 41_000.0,
        "trajectories": 10,
        "subjects read": 5,
    },
    "recordings": {"read": 12, "with a trajectory": 10, "left out": {"with a gap": 2}},
    "columns": [
        {"roles": {"id": "trip", "lat": "y"}, "unused": ["fare", "driver"], "tables": 1},
        {"roles": {"id": "ride", "lon": "x"}, "unused": ["a=b"], "tables": 3},
    ],
    "possible_persons": [{"column": "driver", "values": 5}],
}


def test_the_table_that_most_files_are_like_decides_what_columns_are() -> None:
    columns = Columns.of(EXTRACTION)
    assert columns.roles == {"id": "ride", "lon": "x", "lat": "y"}
    assert columns.names == ["ride", "x", "a=b", "trip", "y", "fare", "driver"]


def test_columns_that_may_name_people_are_offered_first() -> None:
    columns = Columns.of(EXTRACTION)
    people = columns.choices("subject", columns.names, "", folders=True)
    assert [*people][:2] == ["", "driver"]
    assert [*people][-2:] == [NOBODY, FOLDER]
    assert people["driver"] == "driver (5 different)"
    assert "a=b" not in people  # which the option could not name
    assert FOLDER not in columns.choices("subject", columns.names, "", folders=False)

    trips = columns.choices("id", columns.names, "", folders=True)
    assert trips[""] == "ride (found)"
    assert [*trips][-1] == FILE
    assert columns.choices("id", [], "gone", folders=False)["gone"] == "gone"
    assert columns.choices("id", [], "ride", folders=False)[""] == "Look for one"


def test_the_page_says_what_files_hold_and_whom_k_counts() -> None:
    held, became, counted, *_, left_out = sentences_of_extraction(EXTRACTION)
    assert held == "2,000 points of 12 recordings were read. Once cleaned, 41 km are left."
    assert became == "They become 10 trips."
    assert counted == "k counts people: 5 people are named."
    assert left_out == "10 of 12 recordings gave a trajectory. Left out: 2 with a gap."


def test_where_nobody_has_a_name_k_counts_recordings() -> None:
    counts = {"subjects read": 1, NAMELESS: 12, NAMELESS_COUNT_AS: 1}
    nobody = EXTRACTION | {"counts": EXTRACTION["counts"] | counts}
    assert people_named(nobody) == 0
    assert sentences_of_extraction(nobody)[2] == "k counts recordings: nobody is named."
