"""Reports as files: written beside their release, found, read, and refused."""

import json
from pathlib import Path

import pytest
from madrid_walks import walks_in_madrid
from reports import reported

import trajanon
from trajanon.common.errors import BadInput
from trajanon.release.report_files import checked, json_ready, read_report, report_path

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
