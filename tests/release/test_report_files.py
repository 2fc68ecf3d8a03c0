"""Reports as files: written beside their release, found, read, and refused."""

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from madrid_walks import walks_in_madrid
from reports import reported

import trajanon
from trajanon.common.errors import BadInput, FileProblem
from trajanon.release.report_files import (
    checked,
    digest_of_file,
    is_release,
    json_ready,
    json_report,
    new_report_path,
    read_report,
    report_beside,
    report_path,
)

pytestmark = pytest.mark.usefixtures("few_moves")


def test_the_first_line_of_the_report_says_it_is_not_for_publication(tmp_path: Path) -> None:
    release = trajanon.anonymize(walks_in_madrid(), 4)
    release.write(tmp_path / "out.csv")
    path = tmp_path / "out.report.json"
    assert report_path(tmp_path / "out.csv") == path
    first = path.read_text(encoding="utf-8").splitlines()[0]
    assert "For the holder of the data, not for publication" in first
    assert json_ready(read_report(tmp_path / "out.csv")) == release.report
    assert json.loads(path.read_text(encoding="utf-8")) == release.report


@pytest.mark.parametrize("lacking", ["lines", "length", "curve_distance"])
def test_a_report_of_an_earlier_version_is_to_be_made_anew(lacking: str) -> None:
    entries = json_ready(reported())
    del entries[lacking]
    with pytest.raises(BadInput, match=f"{lacking}.*run trajanon anonymize again"):
        checked(entries)


def test_a_report_of_parts_stands_beside_their_folder(tmp_path: Path) -> None:
    folder = tmp_path / "madrid.2008"
    folder.mkdir()
    assert report_path(folder) == tmp_path / "madrid.2008.parts.report.json"
    assert report_path(tmp_path / "madrid.2008.csv") == tmp_path / "madrid.2008.report.json"


def test_the_report_of_a_release_in_another_format_is_not_replaced(tmp_path: Path) -> None:
    release = trajanon.anonymize(walks_in_madrid(), 4, refine="none")
    release.write(tmp_path / "out.csv")
    before = (tmp_path / "out.report.json").read_text(encoding="utf-8")
    assert new_report_path(tmp_path / "out.csv") == tmp_path / "out.report.json"
    assert new_report_path(tmp_path / "out.gpkg", before) == tmp_path / "out.report.json"
    with pytest.raises(
        BadInput, match=r"out\.report\.json belongs to .*out\.csv: give .*out\.gpkg"
    ):
        new_report_path(tmp_path / "out.gpkg", "{}")
    (tmp_path / "out.csv").unlink()
    assert new_report_path(tmp_path / "out.gpkg", "{}") == tmp_path / "out.report.json"


def test_a_release_is_known_by_what_stands_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    (tmp_path / "x.datasheet.md").touch()
    assert not is_release(path)
    path.touch()
    assert is_release(path)
    (tmp_path / "x.datasheet.md").rename(tmp_path / "y.datasheet.md")
    assert not is_release(path)
    (tmp_path / "x.report.json").touch()
    assert is_release(path)


def test_a_report_that_is_not_there_is_none_or_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    with pytest.raises(FileProblem, match=r"there is no .*x\.csv; make it with"):
        read_report(path)
    path.touch()
    assert report_beside(path) is None
    with pytest.raises(FileProblem, match=r"there is no .*x\.report\.json, the report"):
        read_report(path)


@pytest.mark.parametrize(
    "entries", [{}, {"rows": []}, {"rows": {"way": "lines"}, "alignment": 1}, {"members": 1}]
)
def test_a_report_of_shards_may_be_made_by_anybody(
    tmp_path: Path, entries: dict[str, object]
) -> None:
    table = tmp_path / "anonymized.rows.parquet"
    rows = {"group": [0, 0], "key": [1, 1], "own_row": [True, True], "start": [0, 0]}
    pq.write_table(pa.table(rows), table)
    account = {"members": digest_of_file(table), **entries}
    (tmp_path / "anonymized.report.json").write_text(json.dumps(account), "utf-8")
    with pytest.raises(FileProblem, match="is not a report of trajanon"):
        report_beside(tmp_path / "anonymized.parquet")


def test_entries_stand_below_one_another_and_lists_in_a_line() -> None:
    report = {"notice": "mine", "labels": [1, 2], "times": {"step": 60, "none": {}}, "of": "é"}
    text = json_report(report)
    assert text == (
        '{ "notice": "mine",\n "labels": [1, 2],\n "times": {\n  "step": 60,\n  "none": {}\n },\n'
        ' "of": "é"\n}\n'
    )
    assert json.loads(text) == report
