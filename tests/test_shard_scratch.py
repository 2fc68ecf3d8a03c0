"""What a run writes meanwhile: few files, and gone once nobody needs them."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from random import Random
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from shards import released, shards_of, walks, write_folder

from trajanon.parts import finish, scratch
from trajanon.parts.scratch import Scratch, Stored, Task, removal, write_by_target
from trajanon.parts.workflow import anonymize_parts
from trajanon.remote_folder import Folder


@given(st.lists(st.sets(st.integers(0, 5), min_size=1), min_size=1), st.randoms())
def test_a_file_goes_with_the_last_task_that_needs_it(
    needs: list[set[int]], random: Random
) -> None:
    folder = Folder("memory://uses")
    folder.remove()
    folder.make()
    for name in map(str, range(6)):
        with folder.writing(name) as file:
            file.write(b"rows")
    left = [Task(0, [Stored(str(number), 0, 1, 2) for number in some]) for some in needs]
    never = set(map(str, range(6))) - {place.name for task in left for place in task.places}
    done = removal(folder, left)
    random.shuffle(left)
    while left:
        done(left.pop())
        needed = {place.name for task in left for place in task.places}
        assert set(folder.names()) == never | needed


@pytest.mark.parametrize("targets", [1, 7, 432])
@pytest.mark.parametrize("tasks", [1, 30, 9_999, 50_000])
def test_the_files_of_a_step_are_limited(targets: int, tasks: int) -> None:
    place = Scratch("memory://files")
    place.remove()
    with place.at_work():
        pieces = ((number, [np.array([number])]) for number in range(targets))
        written = list(write_by_target(place, "some-{}.npy", pieces, targets, tasks))
        for number, (target, piece) in enumerate(written):
            assert target == number
            assert [array.tolist() for array in place.read_piece(piece)] == [[number]]
    files = len({piece.name for _, piece in written})
    assert 1 <= files <= targets
    assert files * tasks <= max(scratch.FILES, tasks)
    assert files == targets or (files + 1) * tasks > scratch.FILES


class Look:
    """Notes the files of a run whenever a task has been done."""

    def __init__(self, scratch: Path) -> None:
        self.scratch = scratch
        self.seen: dict[str, list[Counter[str]]] = {}

    def __call__(self, task: str, done: float, total: float | None, note: str = "") -> None:
        names = [path.name for path in self.scratch.iterdir()]
        kinds = Counter(name.split("-")[0] for name in names)
        self.seen.setdefault(task, []).append(kinds)

    def of(self, task: str, kind: str) -> Sequence[int]:
        return [kinds[kind] for kinds in self.seen[task]]


def looked_at(tmp_path: Path, name: str, files: int) -> tuple[Look, list[bytes]]:
    out = tmp_path / name
    look = Look(tmp_path / f"{name}.unfinished")
    with shards_of(60), patch.object(scratch, "FILES", files), patch.object(finish, "PART", 100):
        anonymize_parts(str(tmp_path / "trips"), str(out), 3, effort="fast", progress=look)
    return look, released(out)


def test_pieces_go_once_they_are_used(tmp_path: Path) -> None:
    write_folder(tmp_path / "trips", walks(600), rows=100)
    look, lines = looked_at(tmp_path, "many", 10_000)
    assert look.of("Grouping shards", "shard") == [*range(6 * 10, -1, -6)]
    assert look.of("Grouping shards", "state") == [*range(0, 6 * 10 + 1, 6)]
    assert look.of("Splitting into shards anew", "state") == [*range(10 * 6, -1, -10)]
    assert look.of("Grouping shards anew", "shard")[-1] == 0
    assert look.of("Writing the release", "released")[-1] == 0
    assert look.of("Writing groups", "state")[-1] == 0
    few, same = looked_at(tmp_path, "few", 20)
    assert few.of("Grouping shards", "shard")[0] == 6 * 3
    most = max(look.of("Writing the release", "released"))
    assert max(few.of("Writing the release", "released")) < most
    assert few.of("Writing the release", "released")[-1] == 0
    assert same == lines
