"""Tables beyond memory: what is promised holds, however small the shards."""

import json
import os
import signal
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest
from commands import Run, files_of_at_most
from hypothesis import given
from hypothesis import strategies as st
from large import search_as_if_large
from naive import Floats
from shards import groups_told, released, shards_of, walks, write_folder

import trajanon
from trajanon import workers
from trajanon.errors import BadInput, FileProblem, TooFewRecords, TooFewSubjects
from trajanon.loss import information_loss, sse, standardise
from trajanon.partition import dense, subjects_per_group
from trajanon.shards import anonymization, parts, releasing
from trajanon.shards.anonymization import anonymize_parts
from trajanon.shards.folder import Folder
from trajanon.shards.mending import Border, borders
from trajanon.shards.solving import Waiting
from trajanon.utility import displacement


def out_of(tmp_path: Path) -> Path:
    return tmp_path / "anonymized"


def records_of(points: Floats) -> Floats:
    return points.reshape(len(points), -1)


@given(
    n=st.integers(12, 160),
    places=st.integers(1, 6),
    people=st.integers(4, 60),
    k=st.integers(2, 4),
    rows=st.integers(5, 60),
    seed=st.integers(0, 2**32 - 1),
    counted=st.booleans(),
)
def test_every_group_holds_k_and_every_row_is_released_once(
    tmp_path_factory: pytest.TempPathFactory,
    n: int,
    places: int,
    people: int,
    k: int,
    rows: int,
    seed: int,
    counted: bool,
) -> None:
    folder = tmp_path_factory.mktemp("run")
    points = np.round(walks(n, seed, places), 4)
    subject = np.random.default_rng(seed).integers(0, people, n)
    subject[:k] = range(k)
    source = write_folder(folder / "trips", points, subject)
    with shards_of(rows), groups_told() as groups, patch.object(parts, "UNIT", 30):
        report = anonymize_parts(
            str(source),
            str(folder / "out"),
            k,
            count="subjects" if counted else "records",
            effort="fast",
        )
    labels = groups.labels
    assert len(labels) == n
    held = subjects_per_group(labels, subject if counted else np.arange(n))
    assert held.min() >= k
    lines = Counter(released(folder / "out"))
    assert lines.total() == n
    assert min(lines.values()) >= k
    sizes = np.bincount(labels)
    assert report["groups"] == len(sizes)
    assert report["groups_of_size"] == {
        str(size): int((sizes == size).sum()) for size in np.unique(sizes)
    }
    few = int((subjects_per_group(labels, subject) < k).sum())
    assert (f"{few} of {len(sizes)} groups" in report["notice"]) is not counted
    # What is reported is what can be computed from all rows at once.
    records = standardise(records_of(points))
    lost = information_loss(sse(records, dense(labels)), float((records**2).sum()))
    assert report["information_loss"] == pytest.approx(lost, rel=1e-9)
    centroids = np.array([groups.line[group] for group in range(len(sizes))])
    moved = displacement(points, np.round(centroids, 7)[labels])
    assert report["displacement"]["mean"] == pytest.approx(moved.mean(), rel=1e-6)
    assert report["displacement"]["max"] == pytest.approx(moved.max(), abs=1e-6)
    for name, share in (("median", 0.5), ("p95", 0.95)):
        true = np.quantile(moved, share, method="inverted_cdf")
        assert report["displacement"][name] == pytest.approx(true, rel=0.002, abs=1e-3)


@pytest.mark.parametrize("refine", ["none", "rcs", "swap", "descent"])
def test_groups_on_both_sides_of_borders_are_searched_together(
    tmp_path: Path, refine: str
) -> None:
    points = walks(600)
    source = write_folder(tmp_path / "trips", points)
    with shards_of(60):
        report = anonymize_parts(str(source), str(out_of(tmp_path)), 3, refine=refine)
    whole = trajanon.microaggregate(records_of(points), 3, refine=refine)
    steps = {s["name"]: s["information_loss"] for s in report["stages"]}
    assert report["information_loss"] == steps["borders"]
    if refine == "none":
        assert steps["borders"] == steps["shards"]
    else:
        # Of what ten tiny shards lose beside the whole, a good part comes back.
        spent = steps["shards"] - whole.information_loss
        assert steps["shards"] - steps["borders"] > 0.2 * spent > 0.0


def test_one_shard_is_the_table_in_memory(tmp_path: Path) -> None:
    points = walks(300)
    source = write_folder(tmp_path / "trips", points)
    with groups_told() as groups:
        report = anonymize_parts(str(source), str(out_of(tmp_path)), 4)
    assert report["shards"] == 1
    whole = trajanon.microaggregate(records_of(points), 4)
    assert report["information_loss"] == pytest.approx(whole.information_loss, rel=0.02)
    lines = np.array([groups.line[g] for g in dense(groups.labels)])
    assert len(lines) == 300


def test_a_seed_repeats_the_lines_and_not_their_order(tmp_path: Path) -> None:
    source = write_folder(tmp_path / "trips", walks(400))
    files, order = [], []
    for number in range(3):
        out = tmp_path / f"out{number}"
        with shards_of(90), patch.object(releasing, "PART", 150):
            anonymize_parts(str(source), str(out), 3, seed=number // 2, effort="fast")
        files.append(released(out))
        order.append([path.read_bytes() for path in sorted(out.iterdir())])
    assert files[0] == files[1]
    assert order[0] != order[1]


@pytest.mark.parametrize("cores", [1, 2, 5])
def test_the_result_is_the_same_on_any_number_of_cores(
    tmp_path: Path, cores: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = write_folder(tmp_path / "trips", walks(400))
    with shards_of(90):
        before = anonymize_parts(
            str(source), str(tmp_path / "before"), 3, effort="fast"
        )
        monkeypatch.setattr(workers, "cores", lambda: cores)
        after = anonymize_parts(str(source), str(tmp_path / "after"), 3, effort="fast")
    assert released(tmp_path / "before") == released(tmp_path / "after")
    assert before["information_loss"] == after["information_loss"]


def test_one_part_gives_what_many_do(tmp_path: Path) -> None:
    points, subject = walks(300), np.arange(300) // 2
    one = write_folder(tmp_path / "one", points, subject, rows=300)
    many = write_folder(tmp_path / "many", points, subject, rows=23)
    losses = []
    for source in (one, many):
        with shards_of(70):
            report = anonymize_parts(
                str(source), str(tmp_path / f"{source.name}-out"), 3, effort="fast"
            )
        losses.append(report["information_loss"])
    # Sums are taken in another order; what is found from them is the same.
    assert losses[0] == pytest.approx(losses[1], rel=1e-9)
    assert released(tmp_path / "one-out") == released(tmp_path / "many-out")


def test_ids_go_on_from_part_to_part_and_lines_are_shuffled(tmp_path: Path) -> None:
    source = write_folder(tmp_path / "trips", walks(500))
    with shards_of(120), patch.object(releasing, "PART", 100):
        anonymize_parts(str(source), str(out_of(tmp_path)), 3, effort="fast")
    files = sorted(out_of(tmp_path).iterdir())
    assert [path.name for path in files] == [f"part-0000{i}.parquet" for i in range(5)]
    from trajanon.files.geoparquet import read

    ids = np.concatenate([read(path).columns["id"] for path in files])
    assert ids.tolist() == list(range(1, 501))
    for path in files:
        findings = trajanon.check(path, 2)
        about = [problem for problem in findings.problems if "order" in problem]
        assert not about


def test_equal_records_are_split_too_and_become_one_line(tmp_path: Path) -> None:
    source = write_folder(tmp_path / "trips", np.repeat(walks(1), 200, axis=0))
    with shards_of(30), groups_told() as groups:
        report = anonymize_parts(str(source), str(out_of(tmp_path)), 3)
    assert report["information_loss"] == 0.0
    assert report["shards"] == 7
    assert np.bincount(groups.labels).min() >= 3
    assert len(set(released(out_of(tmp_path)))) == 1


def test_a_constant_column_counts_nothing(tmp_path: Path) -> None:
    points = walks(120)
    points[:, 0, 0] = 41.0
    source = write_folder(tmp_path / "trips", points)
    with shards_of(50):
        report = anonymize_parts(str(source), str(out_of(tmp_path)), 3, effort="fast")
    assert 0.0 < report["information_loss"] < 100.0


def test_a_shard_of_too_few_subjects_is_joined_with_its_neighbour(
    tmp_path: Path,
) -> None:
    points = walks(200)
    points[:60] += 0.5  # one person, far from all others
    subject = np.arange(200)
    subject[:60] = 0
    source = write_folder(tmp_path / "trips", points, subject)
    with shards_of(25), groups_told() as groups:
        report = anonymize_parts(str(source), str(out_of(tmp_path)), 3, effort="fast")
    assert report["shards"] < 8
    assert subjects_per_group(groups.labels, subject).min() >= 3


def test_more_of_one_place_than_memory_holds_is_refused(tmp_path: Path) -> None:
    subject = np.zeros(200, dtype=np.int64)
    subject[:3] = range(3)
    source = write_folder(tmp_path / "trips", walks(200), subject)
    with (
        shards_of(25),
        patch.object(anonymization, "capacity_of", lambda *_: 100),
        pytest.raises(BadInput, match=r"of few subjects lie in one place.*--memory"),
    ):
        anonymize_parts(str(source), str(out_of(tmp_path)), 3, effort="fast")
    assert [path.name for path in tmp_path.iterdir()] == ["trips"]


def test_borders_of_more_than_memory_holds_are_mended_in_parts(tmp_path: Path) -> None:
    source = write_folder(tmp_path / "trips", walks(600))
    sizes: list[int] = []

    def spied(waiting: Sequence[Waiting], capacity: int) -> list[Border]:
        assert capacity == 90
        found = borders(waiting, capacity)
        sizes.extend(sum(one.rows for one in some.waiting) for some in found)
        everything = sorted(one for some in found for one in some.waiting)
        assert everything == sorted(waiting)
        return found

    with (
        shards_of(60),
        patch.object(anonymization, "capacity_of", lambda *_: 90),
        patch.object(anonymization, "borders", spied),
        groups_told() as groups,
    ):
        anonymize_parts(str(source), str(out_of(tmp_path)), 3, effort="fast")
    assert len(sizes) > 9  # of so many nodes
    assert max(sizes) <= 90
    assert np.bincount(groups.labels).min() >= 3


def test_a_row_group_that_memory_does_not_hold_is_refused(tmp_path: Path) -> None:
    source = write_folder(tmp_path / "trips", walks(200), rows=150)
    with (
        patch.object(anonymization, "capacity_of", lambda *_: 120),
        patch.object(anonymization, "UNIT", 100),
        pytest.raises(BadInput, match=r"part-00000\.parquet has a row group of 150 t"),
    ):
        anonymize_parts(str(source), str(out_of(tmp_path)), 3, effort="fast")


def test_groups_between_two_shards_stay_together() -> None:
    one, two = Waiting(0, (1, 2), "a", 40), Waiting(0, (1, 2), "b", 70)
    three, four = Waiting(0, (1, 3), "c", 30), Waiting(1, (1, 3), "d", 5)
    found = borders([four, three, two, one], 110)
    assert [some.waiting for some in found] == [(one, two), (three,), (four,)]
    # More than fits is not searched at once, whatever it is.
    found = borders([four, three, two, one], 100)
    assert [some.waiting for some in found] == [(one,), (two, three), (four,)]
    found = borders([four, three, two, one], 140)
    assert [some.waiting for some in found] == [(one, two, three), (four,)]


def test_too_few_are_refused(tmp_path: Path) -> None:
    source = write_folder(
        tmp_path / "trips", walks(30), np.repeat(np.arange(2), 15), rows=7
    )
    with pytest.raises(TooFewSubjects, match="come from 2 subjects, and k = 3 needs 3"):
        anonymize_parts(str(source), str(out_of(tmp_path)), 3)
    with pytest.raises(TooFewRecords, match=r"30 trajectories cannot form .* k = 31"):
        anonymize_parts(str(source), str(out_of(tmp_path)), 31, count="records")
    assert [path.name for path in tmp_path.iterdir()] == ["trips"]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"count": "heads"}, "count 'heads' is not known"),
        ({"memory": "much"}, "--memory must be an amount such as 4GB .*'much'"),
        ({"memory": "1..2GB"}, "--memory must be an amount"),
        ({"memory": "9" * 400}, "--memory must be an amount"),
        ({"memory": float("nan")}, "--memory must be an amount .*nan"),
        ({"memory": "200 MB"}, "--memory 0.2GB is too little"),
        ({"method": "magic"}, "method 'magic' is not known"),
        ({"k": 1}, "k must be at least 2"),
    ],
)
def test_options_that_make_no_sense_are_refused(
    tmp_path: Path, options: dict[str, object], says: str
) -> None:
    source = write_folder(tmp_path / "trips", walks(30))
    given: dict[str, object] = {"k": 3} | options
    with pytest.raises(BadInput, match=says):
        anonymize_parts(str(source), str(out_of(tmp_path)), **given)  # type: ignore[arg-type]


def test_both_sides_of_the_antimeridian_are_refused(tmp_path: Path) -> None:
    points = walks(60)
    points[::2, :, 1] = 179.0
    points[1::2, :, 1] = -179.0
    source = write_folder(tmp_path / "trips", points)
    with pytest.raises(BadInput, match="antimeridian"):
        anonymize_parts(str(source), str(out_of(tmp_path)), 3)


def test_a_release_that_is_there_is_replaced_with_its_report(tmp_path: Path) -> None:
    source = write_folder(tmp_path / "trips", walks(60))
    out = out_of(tmp_path)
    with patch.object(releasing, "PART", 10):
        anonymize_parts(str(source), str(out), 3, effort="fast")
    assert len(list(out.iterdir())) == 6
    anonymize_parts(str(source), str(out), 4, effort="fast")
    assert [path.name for path in out.iterdir()] == ["part-00000.parquet"]
    report = json.loads((tmp_path / "anonymized.parts.report.json").read_text())
    assert report["k"] == 4
    assert trajanon.check(out / "part-00000.parquet", 4).holds
    assert sorted(p.name for p in tmp_path.iterdir()) == [
        "anonymized",
        "anonymized.parts.report.json",
        "trips",
    ]


def test_a_folder_with_something_else_in_it_is_left_alone(tmp_path: Path) -> None:
    source = write_folder(tmp_path / "trips", walks(60))
    out_of(tmp_path).mkdir()
    (out_of(tmp_path) / "thesis.txt").write_text("years of work")
    with pytest.raises(FileProblem, match=r"holds thesis\.txt, which is no part"):
        anonymize_parts(str(source), str(out_of(tmp_path)), 3)
    with pytest.raises(BadInput, match="is read as input"):
        anonymize_parts(str(source), f"{source}/", 3)
    with pytest.raises(BadInput, match="is read as input"):
        anonymize_parts(str(source), str(tmp_path / "x" / ".." / "trips"), 3)


def test_what_ends_a_run_leaves_nothing_behind(tmp_path: Path) -> None:
    source = write_folder(tmp_path / "trips", walks(300))
    out = out_of(tmp_path)
    anonymize_parts(str(source), str(out), 3, effort="fast")
    before = released(out)

    for until in ("Splitting into shards", "Grouping shards", "Writing the release"):

        def stop(task: str, done: float, total: float | None, note: str = "") -> None:
            if task == until and done == 1:  # noqa: B023
                os.kill(os.getpid(), signal.SIGINT)

        with (
            shards_of(60),
            patch.object(releasing, "PART", 60),
            pytest.raises(KeyboardInterrupt),
        ):
            anonymize_parts(str(source), str(out), 4, progress=stop, effort="fast")
        assert released(out) == before
        assert sorted(p.name for p in tmp_path.iterdir()) == [
            "anonymized",
            "anonymized.parts.report.json",
            "trips",
        ]


@pytest.mark.parametrize("there", ["file", "memory"])
@pytest.mark.parametrize("fails", ["before", "out", "report.json"])
def test_a_release_that_is_there_stays_if_the_move_fails(
    tmp_path: Path, there: str, fails: str
) -> None:
    source = write_folder(tmp_path / "trips", walks(60))
    place = Folder("memory://kept" if there == "memory" else str(tmp_path / "kept"))
    place.remove()
    out = place / "out"
    anonymize_parts(str(source), out.url, 3, effort="fast")
    with out.open("part-00000.parquet") as file:
        before = file.read()
    move, move_file = Folder.move, Folder.move_file

    def stop(name: str) -> None:
        if name == fails:
            raise KeyboardInterrupt

    def moved(self: Folder, other: Folder) -> None:
        back = self.url.endswith("/before")
        if other.url.endswith("/out") and not back:
            stop("out")
        move(self, other)
        if other.url.endswith("/before"):
            stop("before")

    def moved_file(self: Folder, name: str, url: str) -> None:
        stop(name)
        move_file(self, name, url)

    with (
        patch.object(Folder, "move", moved),
        patch.object(Folder, "move_file", moved_file),
    ):
        with pytest.raises(KeyboardInterrupt):
            anonymize_parts(str(source), out.url, 4, effort="fast")
        assert place.names() == ["out", "out.parts.report.json"]
        with out.open("part-00000.parquet") as file:
            assert file.read() == before
        if fails == "before":
            return
        with pytest.raises(KeyboardInterrupt):  # nothing was there
            anonymize_parts(str(source), (place / "new" / "out").url, 4, effort="fast")
    assert not (place / "new" / "out").exists


@pytest.mark.parametrize(
    "error", [FileProblem("the disk is gone"), KeyboardInterrupt()]
)
def test_originals_that_cannot_be_removed_are_named(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, error: BaseException
) -> None:
    source = write_folder(tmp_path / "trips", walks(60))

    def stop(task: str, done: float, total: float | None, note: str = "") -> None:
        raise BadInput(task)

    with (
        patch.object(Folder, "remove", side_effect=error),
        pytest.raises(BadInput, match="Reading parts"),
    ):
        anonymize_parts(str(source), str(out_of(tmp_path)), 3, progress=stop)
    assert "anonymized.unfinished could not be removed, and holds orig" in caplog.text


def test_what_cannot_be_moved_back_is_kept(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    source = write_folder(tmp_path / "trips", walks(60))
    out = out_of(tmp_path)
    anonymize_parts(str(source), str(out), 3, effort="fast")
    before = released(out)
    move = Folder.move

    def moved(self: Folder, other: Folder) -> None:
        if other.url.endswith("/anonymized"):
            msg = "the disk is gone"
            raise FileProblem(msg)
        move(self, other)

    with (
        patch.object(Folder, "move", moved),
        pytest.raises(FileProblem, match="the disk is gone"),
    ):
        anonymize_parts(str(source), str(out), 4, effort="fast")
    assert released(tmp_path / "anonymized.unfinished" / "before") == before
    assert "unfinished/before is the release that was there" in caplog.text


def test_of_two_runs_at_once_one_is_refused(tmp_path: Path) -> None:
    source = write_folder(tmp_path / "trips", walks(60))
    out = out_of(tmp_path)

    def other_run(folder: Folder) -> parts.Parts:
        Folder(str(out)).beside.make()
        return parts.survey_parts(folder)

    with (
        patch.object(anonymization, "survey_parts", other_run),
        pytest.raises(FileProblem, match=r"anonymized\.unfinished"),
    ):
        anonymize_parts(str(source), str(out), 3, effort="fast")
    assert (tmp_path / "anonymized.unfinished").is_dir()  # it is the other's


def test_a_link_to_a_folder_stays_one(tmp_path: Path) -> None:
    source = write_folder(tmp_path / "trips", walks(60))
    (tmp_path / "large_disk").mkdir()
    link = out_of(tmp_path)
    link.symlink_to(tmp_path / "large_disk")
    for k in (3, 4):
        anonymize_parts(str(source), str(link), k, effort="fast")
    assert link.is_symlink()
    assert len(released(tmp_path / "large_disk")) == 60
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "anonymized",
        "anonymized.parts.report.json",
        "large_disk",
        "trips",
    ]


def test_what_is_read_is_not_written_over_by_any_way(tmp_path: Path) -> None:
    within = tmp_path / "all" / "part-00000.parquet"
    within.parent.mkdir()
    write_folder(within, walks(60))
    with pytest.raises(BadInput, match="all is read as input"):
        anonymize_parts(str(within), str(tmp_path / "all"), 3)
    links = tmp_path / "links"
    links.mkdir()
    (links / "part-00000.parquet").symlink_to(within / "part-00000.parquet")
    with pytest.raises(BadInput, match="is read as input"):
        anonymize_parts(str(links), str(within), 3)
    assert (within / "part-00000.parquet").is_file()


def test_a_run_that_was_killed_is_named(tmp_path: Path) -> None:
    source = write_folder(tmp_path / "trips", walks(60))
    (tmp_path / "anonymized.unfinished").mkdir()
    with pytest.raises(FileProblem, match=r"anonymized\.unfinished is of a run that"):
        anonymize_parts(str(source), str(out_of(tmp_path)), 3)


def test_the_command_line_takes_a_folder(run: Run) -> None:
    write_folder(Path("trajectories"), walks(100), np.arange(100) // 2)
    answer = run("anonymize", "trajectories", "-k", "3", "--effort", "fast")
    assert answer.code == 0
    assert "Shards, searched one by one" in answer.out
    assert answer.out.splitlines()[-1] == (
        "Wrote 100 trajectories to anonymized. Next: trajanon check anonymized -k 3"
    )
    answer = run("check", "anonymized", "-k", "3")
    assert answer.code == 0, answer
    assert "(100 in all)" in answer.out
    answer = run("anonymize", "trajectories", "-k", "3", "--json", "--out", "b")
    report = json.loads(answer.out)
    assert report["n"] == 100
    assert report["groups"] == sum(report["groups_of_size"].values())


def test_memory_and_cluster_are_for_folders(run: Run) -> None:
    for option, value in (("--memory", "4GB"), ("--cluster", "local:2")):
        answer = run("anonymize", "trips.parquet", "-k", "3", option, value)
        assert f"{option} {value} is for a folder of parts" in answer.sentence


def test_folders_may_be_on_any_file_system(tmp_path: Path) -> None:
    source = write_folder(tmp_path / "trips", walks(90))
    there = Folder("memory://trips")
    there.remove()
    there.make()
    for path in source.iterdir():
        with there.writing(path.name) as file:
            file.write(path.read_bytes())
    with shards_of(30):
        far = anonymize_parts(
            "memory://trips", "memory://released/out", 3, effort="fast"
        )
        near = anonymize_parts(str(source), str(out_of(tmp_path)), 3, effort="fast")
    assert far["information_loss"] == near["information_loss"]
    assert Folder("memory://released").names() == ["out", "out.parts.report.json"]
    assert Folder("memory://released/out").names() == ["part-00000.parquet"]


def test_a_full_disk_leaves_what_was_there(run: Run) -> None:
    write_folder(Path("trajectories"), walks(300))
    given = ("anonymize", "trajectories", "-k", "3", "--effort", "fast")
    assert run(*given).code == 0
    before = released(Path("anonymized"))
    with files_of_at_most(5000):
        answer = run(*given)
    assert "trajanon: cannot use " in answer.sentence
    assert "anonymized.unfinished/shard-000000" in answer.sentence
    assert released(Path("anonymized")) == before
    assert not Path("anonymized.unfinished").exists()


def test_shards_may_be_large_tables(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    search_as_if_large(monkeypatch)
    points, subject = walks(500), np.arange(500) // 3
    source = write_folder(tmp_path / "trips", points, subject)
    with shards_of(100), groups_told() as groups:
        report = anonymize_parts(str(source), str(out_of(tmp_path)), 3)
    assert report["shards"] == 5
    assert subjects_per_group(groups.labels, subject).min() >= 3
    steps = {s["name"]: s["information_loss"] for s in report["stages"]}
    assert steps["borders"] < steps["shards"]


def test_a_release_has_a_thousand_parts_at_most_before_they_grow() -> None:
    counts = {n: releasing.count_of_parts(n) for n in (1, 10**5, 10**7, 10**8, 10**9)}
    assert counts == {1: 1, 10**5: 1, 10**7: 100, 10**8: 1000, 10**9: 1000}
    assert releasing.count_of_parts(10**10) == 10_000


def test_what_is_written_meanwhile_is_for_the_holders_eyes(tmp_path: Path) -> None:
    source = write_folder(tmp_path / "trips", walks(60))
    seen: list[int] = []

    def look(task: str, done: float, total: float | None, note: str = "") -> None:
        seen.append((tmp_path / "anonymized.unfinished").stat().st_mode & 0o777)

    anonymize_parts(str(source), str(out_of(tmp_path)), 3, effort="fast", progress=look)
    assert set(seen) == {0o700}
    assert out_of(tmp_path).stat().st_mode & 0o777 != 0o700  # this is to be published
