"""Whose a row is does not depend on how rows were parted."""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shards import labels_of, shards_of, walks

from trajanon.common.arrays import Hashes, Ints, renumbered
from trajanon.common.errors import BadInput, TooFewSubjects
from trajanon.common.object_stores import Folder
from trajanon.common.progress import silent
from trajanon.common.threads_and_dask import each_done
from trajanon.files.parquet_parts import parquet_of
from trajanon.files.trajectory_files import (
    check_schema,
    provenance_of,
    read_trajectories,
    write_trajectories,
)
from trajanon.grouping.k_promise import subjects_per_group
from trajanon.release.plan import Plan
from trajanon.shards import survey_and_cuts
from trajanon.shards.anonymize_folders import anonymize_parts
from trajanon.shards.parts_table import PartsTable
from trajanon.shards.people_of_rows import people_of_names, people_of_recordings
from trajanon.shards.places_of_rows import PlacedRows, places_of_part
from trajanon.shards.scratch_and_resume import scratch_for
from trajanon.trajectories.provenance import NAMELESS_SUBJECT
from trajanon.trajectories.trajectories import Trajectories

Row = tuple[Any, Any]  # subject and trace; None where missing


def write_rows(
    folder: Path, rows: Sequence[Row], sizes: Sequence[int], **kinds: pa.DataType
) -> Path:
    """Write rows as parts of such sizes, with the columns of which a kind is given."""
    folder.mkdir()
    start = 0
    for number, size in enumerate(sizes):
        some = slice(start, start + size)
        start += size
        path = folder / f"part-{number:05d}.parquet"
        write_trajectories(path, Trajectories(walks(len(rows))[some]))
        table = pq.read_table(path)
        metadata = table.schema.metadata
        for name, place in (("subject", 0), ("trace", 1)):
            if name in kinds:
                values = pa.array([row[place] for row in rows[some]], kinds[name])
                table = table.append_column(name, values)
        pq.write_table(table.replace_schema_metadata(metadata), path)
    assert start == len(rows)
    return folder


def whose(folder: Path) -> list[int]:
    """The subject of each row, numbered in the order of their first rows."""
    subject = read_trajectories(folder).subject
    assert subject is not None
    return [int(number) for number in renumbered(subject)]


LONG = 2**60 + 1


@pytest.mark.parametrize("kind", [pa.int64(), pa.uint64()])
def test_long_numbers_are_one_person_in_parts_with_and_without_a_missing_one(
    tmp_path: Path, kind: pa.DataType
) -> None:
    """As floats they would lose digits in the second part alone, and each person would be two."""
    people = [LONG + 12_345 * (row % 8) for row in range(120)]
    rows: list[Row] = [(person, row) for row, person in enumerate(people)]
    rows[-1] = (None, 119)
    folder = write_rows(tmp_path / "in", rows, [60, 60], subject=kind, trace=pa.int64())
    with shards_of(60):
        report = anonymize_parts(str(folder), str(tmp_path / "out"), 3, effort="fast")
    assert report["people"] == 9
    labels = labels_of(tmp_path / "out")
    people[-1] = 0
    assert subjects_per_group(labels[labels >= 0], np.array(people)[labels >= 0]).min() >= 3
    # Numbers that differ in their last digit stay different people, too.
    near = write_rows(tmp_path / "near", [(LONG, 0), (LONG + 1, 1), (None, 2)], [3], subject=kind)
    assert whose(near) == [0, 1, 2]


@pytest.mark.parametrize("numbered", [False, True])
def test_groups_of_fewer_than_k_who_have_a_name_are_counted(tmp_path: Path, numbered: bool) -> None:
    """Recordings without a name have no value, or the number that extraction gave all of them."""
    person = [row % 9 for row in range(120)]
    rows: list[Row] = [
        (number if number or numbered else None, row) for row, number in enumerate(person)
    ]
    folder = write_rows(tmp_path / "in", rows, [60, 60], subject=pa.int64(), trace=pa.int64())
    if numbered:
        for part in folder.iterdir():
            table = pq.read_table(part)
            account = json.loads(table.schema.metadata[b"trajanon"]) | {NAMELESS_SUBJECT: 0}
            told = {**table.schema.metadata, b"trajanon": json.dumps(account).encode()}
            pq.write_table(table.replace_schema_metadata(told), part)

    with shards_of(60):
        report = anonymize_parts(str(folder), str(tmp_path / "out"), 3, effort="fast")

    labels = labels_of(tmp_path / "out")
    has_name = np.array(person) > 0
    named_people = subjects_per_group(labels[has_name], np.array(person)[has_name])
    assert report["lines_of_few_named"] == (named_people < 3).sum() > 0


def slowly(rows: Sequence[Row]) -> list[int]:
    """The same, by looking for every row at all others."""
    people: list[Any] = []
    nobody_is_named = all(subject is None for subject, _ in rows)
    for number, (subject, trace) in enumerate(rows):
        if subject is None and trace is not None:
            named = [s for s, t in rows if t == trace and s is not None]
            without = ("trace", trace) if nobody_is_named else ("nameless", 0)
            people.append(("subject", named[0]) if named else without)
        elif subject is None:
            people.append(("row", number) if nobody_is_named else ("nameless", 0))
        else:
            people.append(("subject", subject))
    return [list(dict.fromkeys(people)).index(person) for person in people]


KINDS: dict[str, tuple[pa.DataType, Callable[[int], Any]]] = {
    "numbers": (pa.int64(), int),
    "floats": (pa.float64(), float),
    "names": (pa.string(), str),
    "categories": (pa.dictionary(pa.int8(), pa.string()), str),
}


@settings(max_examples=15)
@given(data=st.data(), subject=st.sampled_from([*KINDS]), trace=st.sampled_from([*KINDS]))
def test_whose_a_row_is_does_not_depend_on_the_parts(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject, subject: str, trace: str
) -> None:
    maybe = st.one_of(st.none(), st.integers(0, 3))
    drawn = data.draw(st.lists(st.tuples(maybe, maybe), min_size=1, max_size=14))
    cuts = data.draw(st.sets(st.integers(1, len(drawn)), max_size=5))
    ends = sorted({0, len(drawn), *cuts})
    (kind, of_subject), (other, of_trace) = KINDS[subject], KINDS[trace]
    rows = [
        (None if s is None else of_subject(s), None if t is None else of_trace(t)) for s, t in drawn
    ]
    folder = tmp_path_factory.mktemp("rows")
    given = {"subject": kind, "trace": other}
    one = write_rows(folder / "one", rows, [len(rows)], **given)
    many = write_rows(folder / "many", rows, np.diff(ends).tolist(), **given)
    expected = slowly(rows)
    assert whose(one) == expected
    assert whose(many) == expected
    read = read_trajectories(one / "part-00000.parquet").subject
    assert read is not None
    assert renumbered(read).tolist() == expected


@settings(max_examples=40)
@given(
    data=st.data(), subject=st.sampled_from([*KINDS]), trace=st.none() | st.sampled_from([*KINDS])
)
def test_shards_find_the_same_people_part_by_part(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject, subject: str, trace: str | None
) -> None:
    """Where rows have no name, also in other parts than those that name their trace."""
    maybe = st.one_of(st.none(), st.integers(0, 3))
    drawn = data.draw(st.lists(st.tuples(maybe, maybe), min_size=1, max_size=24))
    ends = sorted({0, len(drawn), *data.draw(st.sets(st.integers(1, len(drawn)), max_size=5))})
    rows = [
        (
            None if s is None else KINDS[subject][1](s),
            None if t is None or trace is None else KINDS[trace][1](t),
        )
        for s, t in drawn
    ]
    kinds = {"subject": KINDS[subject][0]}
    if trace is not None:
        kinds["trace"] = KINDS[trace][0]
    folder = tmp_path_factory.mktemp("rows")
    parts = write_rows(folder / "parts", rows, np.diff(ends).tolist(), **kinds)

    whole = read_trajectories(parts)
    expected, provenance = whole.subject, whole.provenance
    assert expected is not None
    with surveyed_part_by_part(parts) as (table, sampled):
        assert renumbered(sampled.view(np.int64)).tolist() == renumbered(expected).tolist()
        # Shards have no numbers of people.
        counted = {name: said for name, said in provenance.items() if name != NAMELESS_SUBJECT}
        assert table.provenance == counted
        people = [places_of_part(table, part).person for part in table.file.parts]
        numbered = renumbered(np.concatenate(people).view(np.int64))
        assert numbered.tolist() == renumbered(expected).tolist()


@contextmanager
def surveyed_part_by_part(folder: Path) -> Iterator[tuple[PartsTable, Hashes]]:
    """Survey parts; also yield the persons in the sample, which has all rows."""
    sampled: list[Hashes] = []

    def cuts(sample: PlacedRows, *_: int) -> Ints:
        sampled.append(sample.person)
        return np.empty(0, np.int64)

    with parquet_of(Folder(folder), check_schema) as file:
        provenance = provenance_of(file.schema_arrow)
    with (
        TemporaryDirectory() as root,
        scratch_for("out", Path(root), 0) as scratch,
        shards_of(5),
        patch.object(survey_and_cuts, "keys_of_cuts", cuts),
        patch.object(survey_and_cuts, "check_enough"),
    ):
        table = PartsTable(
            Folder(folder), file, 1, Plan.of({}), scratch=scratch, provenance=provenance
        )
        table = survey_and_cuts.surveyed(table, 2, partial(each_done, None, silent))
        yield table, sampled[0]


@pytest.mark.parametrize("long", [False, True])
def test_numbers_that_are_fractions_in_one_part_are_the_same_people(
    tmp_path: Path, long: bool
) -> None:
    """As pandas makes of whole numbers with a gap; long ones would be other numbers there."""
    number = 2**53 + 1 if long else 1
    folder = tmp_path / "trips"
    whole: list[Row] = [(number, None), (3, None)] * 20
    parts = write_rows(folder, whole, [40], subject=pa.int64())
    fractions = [(float(person), None) for person, _ in whole]
    other = write_rows(tmp_path / "b", fractions, [40], subject=pa.float64())
    (other / "part-00000.parquet").rename(parts / "part-00001.parquet")
    with shards_of(30):
        if long:
            with pytest.raises(BadInput, match="in several ways"):
                anonymize_parts(str(parts), str(tmp_path / "out"), 2, effort="fast")
        else:
            report = anonymize_parts(str(parts), str(tmp_path / "out"), 2, effort="fast")
            assert report["people"] == 2


def test_k_people_stand_behind_a_line_however_rows_were_parted(tmp_path: Path) -> None:
    """Eight people, of whom one part knows the names and another the traces only."""
    n = 240
    person = np.arange(n) % 8
    rows = [
        (int(who) if number < n // 2 else None, 100 + int(who)) for number, who in enumerate(person)
    ]
    kinds = {"subject": pa.int64(), "trace": pa.int64()}
    folder = write_rows(tmp_path / "trips", rows, [n // 2, n // 2], **kinds)
    with shards_of(60):
        report = anonymize_parts(str(folder), str(tmp_path / "out"), 5, effort="fast")
    assert report["counted"] == "subjects"
    assert subjects_per_group(labels_of(tmp_path / "out"), person).min() >= 5


@pytest.mark.parametrize("kind", ["names", "categories"])
def test_spellings_of_one_person_are_one_subject_in_all_parts(
    tmp_path: Path, kind: str, caplog: pytest.LogCaptureFixture
) -> None:
    names = ["ann", "ann ", "Jos\u00e9", "\u00a0ann", "ANN", "Jose\u0301", "Ann"]
    rows: list[Row] = [(name, None) for name in [*names, "bob", " ", "7.0", "7"] * 4]
    folder = write_rows(tmp_path / "trips", rows, [15, 29], subject=KINDS[kind][0])
    once = [0, 0, 1, 0, 0, 1, 0, 2]
    expected = [*once, 3, 4, 4] * 4
    assert whose(folder) == expected
    out = str(tmp_path / "out")
    with pytest.raises(TooFewSubjects, match="come from 5 subjects") as error:
        anonymize_parts(str(folder), out, 6, effort="fast")
    assert "4 recordings without a name count as one person" in str(error.value)
    assert "6 names differ from another only in case" in caplog.messages[-1]
    report = anonymize_parts(str(folder), out, 6, effort="fast", subjects_exact=True, refine="none")
    assert report["subjects_merged"]["names"] == 0
    assert "4 recordings have no name: they count as 1 person." in report["notice"]


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("kind", [pa.int64(), pa.string(), pa.dictionary(pa.int8(), pa.string())])
def test_a_column_without_any_value_goes_with_any_kind(
    tmp_path: Path, kind: pa.DataType, first: bool
) -> None:
    """As pandas writes a part in which no row names anybody."""
    named: Callable[[int], Any] = int if kind == pa.int64() else str
    rows: list[Row] = [(None, 7), (None, 8), (None, 8)]
    others: list[Row] = [(named(3), 7), (named(4), 9)]
    folder = tmp_path / "trips"
    nothing = write_rows(tmp_path / "a", rows, [3], subject=pa.null(), trace=pa.int64())
    something = write_rows(tmp_path / "b", others, [2], subject=kind, trace=pa.int64())
    folder.mkdir()
    order = [nothing, something] if first else [something, nothing]
    for number, part in enumerate(order):
        (part / "part-00000.parquet").rename(folder / f"{number}.parquet")
    assert whose(folder) == ([0, 1, 1, 0, 2] if first else [0, 1, 0, 2, 2])


def test_spellings_of_a_person_have_one_hash_and_names_of_their_own() -> None:
    values = np.array(["Ann", "ann ", "Bob", None, " "], dtype=object)
    people = people_of_names(values, exact=False)
    assert people.person[0] == people.person[1] != people.person[2]
    assert people.name[0] != people.name[1]
    assert people.person[3:].tolist() == people.name[3:].tolist() == [0, 0]  # nobody
    exact = people_of_names(values, exact=True)
    assert len({*exact.person[:3].tolist()}) == 3
    whole, fraction = (people_of_names(np.array([one, 3]), exact=False) for one in (7, 7.0))
    assert whole.person.tolist() == fraction.person.tolist()


def test_rows_without_a_trace_are_recordings_of_their_own() -> None:
    row = np.arange(10, 14)
    alone = people_of_recordings(None, row).person
    assert len(np.unique(alone)) == 4
    assert alone[1:3].tolist() == people_of_recordings(None, row[1:3]).person.tolist()
    traced = people_of_recordings(np.array(["a", None, "a", "A"], dtype=object), row).person
    assert traced[0] == traced[2] != traced[3]
    assert traced[1] == alone[1]
