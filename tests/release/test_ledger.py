"""The ledger: what was released is known again, and nothing else can be read from it."""

import os
import sqlite3
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from commands import mode
from ledgers import TOLD, marks_of, trace, windows_of
from shards import walks

from trajanon.common.errors import BadInput, FileProblem
from trajanon.extract import Rules, Trace
from trajanon.extract.traces_to_trajectories import cut
from trajanon.files.trajectory_files import read_marks, read_trajectories, write_trajectories
from trajanon.release.ledger import opened
from trajanon.trajectories.trajectories import HOP_HASHES_KEPT, Trajectories


def look(book: Path) -> list[bool]:
    """Whether some hops are new."""
    with opened(book) as ledger:
        hops = (marks_of([9, hop]) for hop in (10, 20, 30, 40))
        return [bool(ledger.mark_new(ledger.digests_of_marks(hop), None)[0][0]) for hop in hops]


# What the ledger holds.


def test_what_was_released_is_known_again_by_any_of_its_hops(book: Path) -> None:
    released, later = marks_of([1, 10, 11, 12], [2, 20]), marks_of([7, 5, 12], [1, 6], [2, 20, 21])
    with opened(book, new=True) as ledger:
        assert ledger.mark_new(ledger.digests_of_marks(later), None)[0].all()
        ledger.announce(TOLD, ledger.digests_of_marks(released))
    with opened(book) as ledger:
        new, account = ledger.mark_new(ledger.digests_of_marks(later), None)
        assert new.tolist() == [False, True, False]
        assert account.already_released == 2


def test_all_on_the_run_of_a_released_window_counts_as_released(book: Path) -> None:
    with opened(book, new=True) as ledger:
        ledger.announce(TOLD, ledger.digests_of_marks(marks_of([1, 10])))
        new, _account = ledger.mark_new(
            ledger.digests_of_marks(marks_of([1, 11], [1, 10], [1, 12])), np.array([4, 4, 9])
        )
        assert new.tolist() == [False, False, True]


def test_a_file_that_is_no_ledger_stays_as_it_is(book: Path) -> None:
    book.write_text("notes\n" * 100)
    book.chmod(0o644)
    with pytest.raises(FileProblem, match="is not a ledger"), opened(book, new=True):
        pass
    assert mode(book) == 0o644


def test_points_and_names_are_not_in_it_and_it_is_its_owners_alone(book: Path) -> None:
    marks = marks_of([0x1122334455667788, 0x99AABBCCDDEEFF00])
    with opened(book, new=True) as ledger:
        ledger.announce(TOLD, ledger.digests_of_marks(marks))
    content = book.read_bytes()
    assert all(mark.tobytes() not in content for mark in marks[0, :2])
    assert mode(book) == 0o600
    other = book.with_name("other.ledger")
    with opened(other, new=True) as ledger:
        ledger.announce(TOLD, ledger.digests_of_marks(marks))
    digests = [sqlite3.connect(path).execute("select hops from releases") for path in (book, other)]
    assert digests[0].fetchone() != digests[1].fetchone()


def test_one_of_two_runs_has_it(book: Path) -> None:
    with opened(book, new=True), pytest.raises(FileProblem, match="another run is using"):
        look(book)
    look(book)


def alter(book: Path, *statements: str) -> None:
    """Change a ledger behind its back."""
    with sqlite3.connect(book) as database:
        for statement in statements:
            database.execute(statement)
    database.close()


OF_VERSION_3 = (
    "update releases set told = json_remove(told, '$.one_line_each', '$.all_named'), people = x''",
    *(f"alter table {table} drop column link" for table in ("releases", "ledger")),
    "alter table ledger drop column last",
    "update ledger set version = 3",
)
OF_VERSION_2 = (
    *OF_VERSION_3,
    "alter table releases add column digest blob not null default x''",
    "update ledger set version = 2",
)


@pytest.mark.parametrize("before", [OF_VERSION_2, OF_VERSION_3])
def test_a_ledger_of_an_earlier_version_is_read_and_goes_on(
    book: Path, before: tuple[str, ...]
) -> None:
    with opened(book, new=True) as ledger:
        ledger.announce(TOLD, ledger.digests_of_marks(marks_of([1, 10])))
    alter(book, *before)
    with opened(book) as ledger:
        ledger.announce(TOLD, ledger.digests_of_marks(marks_of([2, 20])))
        with pytest.raises(BadInput, match=r"release 1 of .* without a name"):
            ledger.mark_new(ledger.digests_of_marks(marks_of([1, 10])), None, one_line_each=True)
    assert look(book) == [False, False, True, True]
    alter(book, "update releases set hops = x'' where number = 1")
    with pytest.raises(FileProblem, match="is not whole from release 1 on"):
        look(book)


@pytest.mark.parametrize(
    ("change", "first"),
    [
        ("update releases set hops = x'' where number = 2", 2),
        ("update releases set hops = x'', people = x''", 1),
        ("update releases set people = x'' where number = 4", 4),
        ("update releases set told = replace(told, 'nowhere', 'erewhon') where number = 2", 2),
        ("update releases set told = '{}' where number = 1", 1),
        ("update releases set hops = 'text' where number = 1", 1),
        ("delete from releases where number = 1", 1),
        ("delete from releases where number = 2", 2),
        ("delete from releases where number = 4", 4),
        ("delete from releases", 1),
        ("insert into releases select 5, told, hops, people, link from releases limit 1", 5),
        ("update releases set number = 9 where number = 4", 4),
        ("update ledger set last = 3", 5),
        ("update ledger set key = cast(substr(key, 2) || x'01' as blob)", 1),
    ],
)
def test_a_changed_ledger_is_refused_from_the_first_release_on_that_is_wrong(
    book: Path, change: str, first: int
) -> None:
    with opened(book, new=True) as ledger:
        for number in range(4):
            ledger.announce(TOLD, ledger.digests_of_marks(marks_of([number + 1, 10 * number + 10])))
        ledger.forget(3)
    alter(
        book,
        "update releases set told = json_set(told, '$.settled', json('false')) where number = 4",
    )
    assert look(book) == [False, False, True, False]  # it is none of what may not change
    alter(book, change)
    with pytest.raises(FileProblem, match=f"is not whole from release {first} on"):
        look(book)


@pytest.mark.parametrize("key", ["zeroblob(32)", "x''", "x'0102'", "'text'"])
def test_a_key_that_is_none_is_refused(book: Path, key: str) -> None:
    with opened(book, new=True):
        pass
    alter(book, f"update ledger set key = {key}")
    with pytest.raises(FileProblem, match="is damaged: restore its latest copy"):
        look(book)


def test_a_person_on_a_line_is_known_under_every_name(book: Path) -> None:
    with opened(book, new=True) as ledger:
        for promised, marks in ((True, marks_of([1, 10], [2])), (False, marks_of([3, 30]))):
            ledger.announce({**TOLD, "one_line_each": promised}, ledger.digests_of_marks(marks))
        later = ledger.digests_of_marks(marks_of([2, 5], [8, 6], [9, 7], [3, 31], [4, 10]))
        person = np.array([0, 0, 1, 2, 3])
        new, account = ledger.mark_new(later, None, person)
        assert new.tolist() == [False, False, True, True, False]
        assert (account.already_released, account.on_a_line) == (1, 2)
        new, account = ledger.mark_new(later, None, person, one_line_each=True)
        assert new.tolist() == [False, False, True, False, False]


def test_a_ledger_of_another_version_is_refused(book: Path) -> None:
    with opened(book, new=True):
        pass
    alter(book, "update ledger set version = 7")
    with pytest.raises(FileProblem, match="is a ledger of version 7, and this"):
        look(book)


@pytest.mark.parametrize("content", [b"", b"no database at all, but long enough to be one" * 9])
def test_what_is_no_ledger_is_refused(book: Path, content: bytes) -> None:
    book.write_bytes(content)
    with pytest.raises(FileProblem, match=r"trips\.ledger"), opened(book, new=True):
        pass
    assert book.read_bytes() == content


def test_what_is_no_ledger_keeps_its_permissions(book: Path) -> None:
    book.mkdir(mode=0o755)
    table = book / "public.csv"
    table.write_text("lat,lon\n")
    table.chmod(0o644)
    for path, permissions in ((book, 0o755), (table, 0o644)):
        with pytest.raises(FileProblem), opened(path, new=True):
            pass
        assert mode(path) == permissions


def test_names_that_are_not_utf_8_are_kept(book: Path) -> None:
    name = os.fsdecode(b"/releases/\xff.csv")
    book = book.with_name(os.fsdecode(b"\xff.ledger"))
    with opened(book, new=True) as ledger:
        digests = ledger.digests_of_marks(marks_of([1, 10]))
        ledger.announce({**TOLD, "release": name}, digests)
        _new, account = ledger.mark_new(digests, None)
        assert account.file == "\ufffd.ledger"
    with opened(book) as ledger:
        assert [entry.note["release"] for entry in ledger.entries] == [name]


def test_there_is_none_to_look_into(book: Path) -> None:
    with pytest.raises(FileProblem, match="make one with trajanon anonymize --ledger"):
        look(book)
    assert not book.exists()


# How recordings are known again.


@pytest.mark.parametrize(
    ("later", "how"),
    [
        (trace("a", slice(0, 300)), "as it was"),
        (trace("b", slice(0, 300), subject="eve"), "under another name"),
        (trace("a", slice(0, 380)), "with points at its end"),
        (trace("a", slice(7, 300)), "without its beginning"),
        (trace("a", slice(100, 200)), "a part of it"),
    ],
)
@pytest.mark.parametrize("several", [None, 1])
def test_a_changed_recording_is_known_by_its_fixes(
    book: Path, later: Trace, how: str, several: int | None
) -> None:
    first, second = (
        windows_of(one, per_recording=several) for one in (trace("a", slice(0, 300)), later)
    )
    assert first.marks is not None
    assert second.marks is not None
    assert second.tracks is not None
    with opened(book, new=True) as ledger:
        ledger.announce(TOLD, ledger.digests_of_marks(first.marks))
        assert not ledger.mark_new(
            ledger.digests_of_marks(second.marks), second.tracks.recording_of
        )[0].any(), how


def test_another_recording_is_new(book: Path) -> None:
    first, second = windows_of(trace("a", slice(0, 200))), windows_of(trace("a", slice(200, 400)))
    assert first.marks is not None
    assert second.marks is not None
    with opened(book, new=True) as ledger:
        ledger.announce(TOLD, ledger.digests_of_marks(first.marks))
        new, _account = ledger.mark_new(ledger.digests_of_marks(second.marks), None)
    assert new.all()
    assert (first.marks[0, 0] == second.marks[:, 0]).all()  # but of the same person


def test_marks_do_not_depend_on_what_else_is_read() -> None:
    alone = windows_of(trace("a", slice(0, 300)))
    among = windows_of(trace("x", slice(350, 400), subject="eve"), trace("a", slice(0, 300)))
    assert alone.marks is not None
    assert among.marks is not None
    assert np.array_equal(alone.marks, among.marks[-len(alone) :])


def test_a_long_hop_marks_every_window_it_passes() -> None:
    ends = Trace(
        name="a",
        subject="a",
        lat=np.array([40.0, 40.02]),
        lon=np.zeros(2),
        time=np.array([0.0, 99.0]),
    )
    rules = Rules(spacing=50.0, points=10, per_recording=None, max_gap=9_000.0, max_speed=900.0)
    found = cut([ends], rules).marks
    assert found is not None
    assert len(found) > 2
    assert (found[:, 1] == found[0, 1]).all()
    assert (found[:, 1] != 0).all()


def test_files_keep_marks(tmp_path: Path) -> None:
    windows = windows_of(trace("a", slice(0, 300)))
    write_trajectories(tmp_path / "a.parquet", windows)
    read = read_trajectories(tmp_path / "a.parquet")
    assert windows.marks is not None
    assert read.marks is not None
    assert np.array_equal(read.marks, windows.marks)
    assert np.array_equal(read_marks(tmp_path / "a.parquet"), windows.marks)


def test_marks_are_whole_numbers() -> None:
    hashes = [[2**64 - 1] + [1] * HOP_HASHES_KEPT, [2] * (1 + HOP_HASHES_KEPT)]
    trips = Trajectories(walks(2), marks=hashes)  # type: ignore[arg-type]  # a list
    assert trips.marks is not None
    assert trips.marks.dtype == np.uint64
    assert trips.take(np.array([1, 0])).marks.tolist() == hashes[::-1]  # type: ignore[union-attr]

    marks: Any = np.ones((2, 1 + HOP_HASHES_KEPT))
    with pytest.raises(BadInput, match="marks must be numbers: whole ones"):
        Trajectories(walks(2), marks=marks)
    for odd in ([[-1] * (1 + HOP_HASHES_KEPT)] * 2, [["a"] * (1 + HOP_HASHES_KEPT)] * 2):
        with pytest.raises(BadInput, match="marks must be numbers"):
            Trajectories(walks(2), marks=odd)  # type: ignore[arg-type]


def test_marks_of_another_shape_are_refused(tmp_path: Path) -> None:
    trips = Trajectories(walks(2), marks=np.ones((2, 1 + HOP_HASHES_KEPT), np.uint64))
    write_trajectories(tmp_path / "a.parquet", trips)
    frame = pd.read_parquet(tmp_path / "a.parquet")
    with pytest.raises(BadInput, match="marks must have shape"):
        Trajectories(walks(2), marks=np.ones((2, 3), np.uint64))
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pq.read_table(tmp_path / "a.parquet")
    for odd in (pa.array([[1], [2]], pa.large_list(pa.uint64())), pa.array(frame.index)):
        place = table.schema.get_field_index("marks")
        pq.write_table(table.set_column(place, "marks", odd), tmp_path / "odd.parquet")
        with pytest.raises(BadInput, match=r"the column marks of .* is not as extract writes it"):
            read_trajectories(tmp_path / "odd.parquet")
