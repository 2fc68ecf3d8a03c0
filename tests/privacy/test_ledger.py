"""The ledger: what was released is known again, and nothing else can be read from it."""

import sqlite3
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from commands import mode
from ledgers import TOLD, marks_of, trace, windows_of
from shards import walks

from trajanon.errors import BadInput, FileProblem
from trajanon.extract import Rules, Trace
from trajanon.extract.cutting import cut
from trajanon.files.trajectory_files import read_marks, read_trajectories, write_trajectories
from trajanon.privacy.ledger import opened
from trajanon.trajectories import HOPS, Trajectories


def look(book: Path) -> list[bool]:
    """Whether some hops are new."""
    with opened(book) as ledger:
        hops = (marks_of([9, hop]) for hop in (10, 20, 30, 40))
        return [bool(ledger.sort(ledger.keyed(hop), None).new[0]) for hop in hops]


# What the ledger holds.


def test_what_was_released_is_known_again_by_any_of_its_hops(book: Path) -> None:
    released, later = marks_of([1, 10, 11, 12], [2, 20]), marks_of([7, 5, 12], [1, 6], [2, 20, 21])
    with opened(book, new=True) as ledger:
        assert ledger.sort(ledger.keyed(later), None).new.all()
        ledger.announce(TOLD, ledger.keyed(released))
    with opened(book) as ledger:
        found = ledger.sort(ledger.keyed(later), None)
        assert found.new.tolist() == [False, True, False]
        assert found.known == 2


def test_all_on_the_run_of_a_released_window_counts_as_released(book: Path) -> None:
    with opened(book, new=True) as ledger:
        ledger.announce(TOLD, ledger.keyed(marks_of([1, 10])))
        found = ledger.sort(ledger.keyed(marks_of([1, 11], [1, 10], [1, 12])), np.array([4, 4, 9]))
        assert found.new.tolist() == [False, False, True]


def test_points_and_names_are_not_in_it_and_it_is_its_owners_alone(book: Path) -> None:
    marks = marks_of([0x1122334455667788, 0x99AABBCCDDEEFF00])
    with opened(book, new=True) as ledger:
        ledger.announce(TOLD, ledger.keyed(marks))
    content = book.read_bytes()
    assert all(mark.tobytes() not in content for mark in marks[0, :2])
    assert mode(book) == 0o600
    other = book.with_name("other.ledger")
    with opened(other, new=True) as ledger:
        ledger.announce(TOLD, ledger.keyed(marks))
    digests = [sqlite3.connect(path).execute("select hops from releases") for path in (book, other)]
    assert digests[0].fetchone() != digests[1].fetchone()


def test_one_of_two_runs_has_it(book: Path) -> None:
    with opened(book, new=True), pytest.raises(FileProblem, match="another run holds"):
        look(book)
    look(book)


def test_a_ledger_of_version_2_is_read_and_goes_on(book: Path) -> None:
    with opened(book, new=True) as ledger:
        ledger.announce(TOLD, ledger.keyed(marks_of([1, 10])))
    with sqlite3.connect(book) as database:
        database.execute("alter table releases add column digest blob not null default x''")
        database.execute("update ledger set version = 2")
    database.close()
    with opened(book) as ledger:
        ledger.announce(TOLD, ledger.keyed(marks_of([2, 20])))
    assert look(book) == [False, False, True, True]


def test_what_a_row_should_not_hold_is_refused(book: Path) -> None:
    with opened(book, new=True) as ledger:
        ledger.announce(TOLD, ledger.keyed(marks_of([1, 10])))
    with sqlite3.connect(book) as database:
        database.execute("update releases set told = '{}'")
    database.close()
    with pytest.raises(FileProblem, match="is damaged: take its last copy"):
        look(book)


def test_a_ledger_of_another_version_is_refused(book: Path) -> None:
    with opened(book, new=True):
        pass
    with sqlite3.connect(book) as database:
        database.execute("update ledger set version = 7")
    database.close()
    with pytest.raises(FileProblem, match="is a ledger of version 7, and this"):
        look(book)


@pytest.mark.parametrize("content", [b"", b"no database at all, but long enough to be one" * 9])
def test_what_is_no_ledger_is_refused(book: Path, content: bytes) -> None:
    book.write_bytes(content)
    with pytest.raises(FileProblem, match=r"trips\.ledger"), opened(book, new=True):
        pass
    assert book.read_bytes() == content


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
        ledger.announce(TOLD, ledger.keyed(first.marks))
        assert not ledger.sort(ledger.keyed(second.marks), second.tracks.recording_of).new.any(), (
            how
        )


def test_another_recording_is_new(book: Path) -> None:
    first, second = windows_of(trace("a", slice(0, 200))), windows_of(trace("a", slice(200, 400)))
    assert first.marks is not None
    assert second.marks is not None
    with opened(book, new=True) as ledger:
        ledger.announce(TOLD, ledger.keyed(first.marks))
        found = ledger.sort(ledger.keyed(second.marks), None)
    assert found.new.all()
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


def test_marks_of_another_shape_are_refused(tmp_path: Path) -> None:
    trips = Trajectories(walks(2), marks=np.ones((2, 1 + HOPS), np.uint64))
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
