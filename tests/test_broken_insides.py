"""What is in a file is not what it should be: a sentence, whatever it is."""

import json
import re
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import shapely
from commands import Run
from fuzzing import Seed, case, finding, seeds

CASES = 120

DEEP = "[" * 100_000

Break = Callable[[Path], object]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> list[Seed]:
    return seeds(tmp_path_factory.mktemp("whole"))


@pytest.mark.parametrize("part", range(4))
def test_broken_files_and_odd_words_end_in_a_sentence(
    whole: list[Seed], run: Run, tmp_path: Path, part: int, monkeypatch: Any
) -> None:
    """For more of them, give another seed, or more CASES."""
    quick = [one for one in whole if one.commands[0][0] != "figures"]
    quick = [one._replace(commands=one.commands[:1]) for one in quick]
    found = {}
    for number in range(part, CASES, 4):
        one = case(quick, 0, number, tmp_path)
        monkeypatch.chdir(one.folder)
        found[number] = finding(one.words)
    assert {number: what for number, what in found.items() if what} == {}


def column(name: str, values: Any) -> Break:
    """Put other values into a column, or add one."""

    def change(path: Path) -> None:
        table = pq.read_table(path)
        some = pa.array([values] * len(table)) if not callable(values) else values(table)
        if name in table.column_names:
            number = table.column_names.index(name)
            table = table.set_column(number, name, some)
        else:
            table = table.append_column(name, some)
        pq.write_table(table, path)

    return change


def no_text(table: Any) -> Any:
    return pa.array([b"\xff"] * len(table)).view(pa.string())


def categories(table: Any) -> Any:
    return pa.array([b"\xff"] * len(table)).dictionary_encode()


def of_type(kind: Any) -> Callable[[Any], Any]:
    return lambda table: pa.array(range(len(table))).cast(kind)


def twice(name: str) -> Break:
    def change(path: Path) -> None:
        table = pq.read_table(path)
        pq.write_table(table.append_column(name, table[name]), path)

    return change


def metadata(key: str, text: str | bytes) -> Break:
    def change(path: Path) -> None:
        table = pq.read_table(path)
        new = {**(table.schema.metadata or {}), key.encode(): text}
        pq.write_table(table.replace_schema_metadata(new), path)

    return change


def entry(key: str, value: Any) -> Break:
    """Edit an entry of a report by hand."""

    def change(path: Path) -> None:
        told = json.loads(path.read_text())
        owner = told
        *above, last = key.split(".")
        for name in above:
            owner = owner[name]
        owner[last] = value
        path.write_text(json.dumps(told))

    return change


def text(old: str, new: str) -> Break:
    return lambda path: path.write_text(path.read_text().replace(old, new, 1))


def sql(statement: str) -> Break:
    def change(path: Path) -> None:
        with closing(sqlite3.connect(path)) as base, base:
            base.execute(statement)

    return change


EMPTY = shapely.to_wkb(shapely.LineString())

WRONG: list[tuple[str, Break, str]] = [
    ("lines.parquet", metadata("geo", "no JSON"), "not JSON"),
    ("lines.parquet", metadata("geo", "[]"), "Expected object, got array"),
    ("t.parquet", metadata("geo", DEEP), "too deeply"),
    ("t.parquet", metadata("geo", b"\xff"), "it is not JSON"),
    ("places.parquet", column("geometry", 5), "no geometries .* int64"),
    ("places.parquet", column("id", no_text), "the column 'id' of places.parquet .* UTF-8"),
    ("places.parquet", twice("id"), "'id' appears twice"),
    ("arrow.parquet", column("geometry", 5), "in the encoding .*, but int64"),
    ("points.parquet", column("subject", no_text), "the column 'subject' .* UTF-8"),
    ("points.parquet", column("time", no_text), "the column 'time' .* UTF-8"),
    ("points.parquet", column("lat", [1]), "'lat' .* holds list"),
    ("t.parquet", column("geometry", EMPTY), "does not hold trajectories"),
    ("t.parquet", column("track", {"x": 1}), "its tracks are not as extract writes them"),
    ("t.parquet", column("subject", {"x": 1}), "'subject' of t.parquet holds struct"),
    ("t.parquet", twice("run"), "t.parquet has two columns 'run'; rename one"),
    ("a.geojson", text("[-3.", "[" + "9" * 400 + "."), "a.geojson"),
    ("a.parquet", metadata("ARROW:schema", "no schema"), "a.parquet"),
    ("a.parquet", column("geometry", 5), "a.parquet"),
    ("a.parquet", column("id", [1]), "a.parquet"),
    (
        "t/part-00001.parquet",
        metadata("trajanon", '{"counts": {"recordings read": Infinity}}'),
        "its footer has another extraction, attribution or clock",
    ),
    ("x.parquet", column("name", no_text), "the column 'name' .* UTF-8"),
    ("places.gpkg", sql("DELETE FROM gpkg_contents"), "has no geometries"),
    ("area.parquet", column("geometry", b"no"), "cannot read area.parquet as an outline"),
    ("land.osm", text('id="1"', 'id="x"'), "illegal id"),
    ("a.report.json", lambda path: path.write_text(DEEP), "nested too deeply"),
    ("a.report.json", entry("notice", "\ud800"), "it is not JSON"),
    ("a.report.json", entry("stages", ["x"]), "Expected object, got str"),
    ("a.report.json", entry("displacement", {}), "missing required field mean"),
    ("a.report.json", entry("information_loss", 10**400), "out of range"),
    ("a.report.json", entry("k", 2**63), "Expected int"),
    ("a.report.json", entry("unit", ""), "Invalid enum value ''"),
    ("m.csv", text("3.0", "9" * 400), "no number in some row of the column ours"),
    ("a.ledger", sql(f"UPDATE ledger SET key = {2**62}"), "a.ledger is damaged"),
    ("s.toml", text("[check]", "check = 1"), "s.toml needs a table for each command"),
]

RIGHT: list[tuple[str, Break]] = [
    ("points.parquet", column("device_id", no_text)),
    ("points.parquet", metadata("pandas", "no JSON")),
    ("points.parquet", column("time", of_type(pa.timestamp("s", "No/Where")))),
    ("x.parquet", column("more", {"x": 1})),
    ("x.parquet", column("more", categories)),
    ("porto.csv", text("[-3.7,", f"[{'9' * 400},")),
    ("points.csv", text("\n", "\nt9,s9,40\rt8,s8,41\r")),
]


def broken(
    whole: list[Seed], folder: Path, name: str, change: Break, monkeypatch: Any
) -> list[str]:
    """Change a file of a seed; what is then run, in its folder."""
    seed = next(one for one in whole if name in (one.breaks, Path(one.breaks).name))
    shutil.copytree(seed.folder, folder / "here")
    change(folder / "here" / seed.breaks)
    monkeypatch.chdir(folder / "here")
    return list(seed.commands[0])


@pytest.mark.parametrize(("name", "change", "says"), WRONG)
def test_what_cannot_be_used_is_named(
    whole: list[Seed],
    run: Run,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    change: Break,
    says: str,
) -> None:
    words = broken(whole, tmp_path, name, change, monkeypatch)
    answer = run(*words)
    assert answer.code in ((1, 2) if words[0] == "check" else (2,)), answer
    assert re.search(says, answer.out + answer.err), answer


@pytest.mark.parametrize(("name", "change"), RIGHT)
def test_what_does_not_matter_is_passed_over(
    whole: list[Seed],
    run: Run,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    change: Break,
) -> None:
    words = broken(whole, tmp_path, name, change, monkeypatch)
    assert run(*words).code == 0


def test_names_that_are_no_text_are_shown_escaped(
    whole: list[Seed], run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = broken(
        whole,
        tmp_path,
        "x.csv",
        lambda path: path.rename(path.with_name("\udcff.csv")),
        monkeypatch,
    )
    answer = run(*["\udcff.csv" if word == "x.csv" else word for word in words])
    assert answer.code == 0
    assert "\\udcff.csv" in answer.out
