"""The certificate beside a release: its figures, its metadata, and what `check` repeats of it."""

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
import rdflib
from evaluations import Evaluated
from pyshacl import validate

import trajanon
from trajanon.common.errors import FileProblem
from trajanon.evaluation.release_certificate import (
    NOT_ASSESSED,
    certificate,
    read_certificate,
    repeated,
)
from trajanon.release.perturbation import ToldApart
from trajanon.release.public_figures import Crowd

pytestmark = pytest.mark.filterwarnings("ignore:ConjunctiveGraph:DeprecationWarning")

# What mobilityDCAT-AP 1.1 asks of a dataset and its distribution (sections 4.10.1 and 4.11.1).
SHAPES = """
@prefix sh: <http://www.w3.org/ns/shacl#> .
@prefix dcat: <http://www.w3.org/ns/dcat#> .
@prefix dct: <http://purl.org/dc/terms/> .
@prefix m: <https://w3id.org/mobilitydcat-ap#> .
[] a sh:NodeShape ; sh:targetClass dcat:Dataset ; sh:property
  [ sh:path dct:title ; sh:minCount 1 ; sh:nodeKind sh:Literal ; sh:languageIn ("en") ] ,
  [ sh:path dct:description ; sh:minCount 1 ; sh:nodeKind sh:Literal ; sh:languageIn ("en") ] ,
  [ sh:path dct:publisher ; sh:minCount 1 ; sh:maxCount 1 ; sh:nodeKind sh:BlankNodeOrIRI ] ,
  [ sh:path dct:spatial ; sh:minCount 1 ; sh:class dct:Location ] ,
  [ sh:path dct:accrualPeriodicity ; sh:minCount 1 ; sh:maxCount 1 ;
    sh:pattern "^http://publications.europa.eu/resource/authority/frequency/" ] ,
  [ sh:path m:mobilityTheme ; sh:minCount 1 ;
    sh:pattern "^https://w3id.org/mobilitydcat-ap/mobility-theme/" ] ,
  [ sh:path dcat:distribution ; sh:minCount 1 ; sh:class dcat:Distribution ] .
[] a sh:NodeShape ; sh:targetClass dcat:Distribution ; sh:property
  [ sh:path dcat:accessURL ; sh:minCount 1 ; sh:maxCount 1 ; sh:nodeKind sh:IRI ] ,
  [ sh:path m:mobilityDataStandard ; sh:minCount 1 ; sh:maxCount 1 ;
    sh:pattern "^https://w3id.org/mobilitydcat-ap/mobility-data-standard/" ] ,
  [ sh:path dct:format ; sh:minCount 1 ; sh:maxCount 1 ;
    sh:pattern "^http://publications.europa.eu/resource/authority/file-type/" ] ,
  [ sh:path dct:rights ; sh:minCount 1 ; sh:maxCount 1 ; sh:class dct:RightsStatement ] .
"""


@pytest.fixture
def account(slid_sample: Evaluated) -> dict[str, Any]:
    return deepcopy(slid_sample[0].account)


@pytest.fixture
def released(tmp_path: Path) -> Path:
    path = tmp_path / "anonymized.parquet"
    path.write_bytes(b"lines")
    return path


def conforms(metadata: dict[str, Any]) -> bool:
    graph = rdflib.Graph().parse(data=json.dumps(metadata), format="json-ld")
    shapes = rdflib.Graph().parse(data=SHAPES, format="turtle")
    found, _, _ = validate(graph, shacl_graph=shapes, inference="none")
    return bool(found)


def test_metadata_are_those_of_mobility_portals(account: dict[str, Any], released: Path) -> None:
    metadata = dict(certificate(account, released, "1.0")["metadata"])
    assert conforms(metadata)
    for name in ("dct:title", "dct:publisher", "dct:spatial", "dcat:distribution"):
        assert not conforms({key: value for key, value in metadata.items() if key != name})
    west, south, *_ = account["area"]
    assert f"POLYGON(({west} {south}, " in metadata["dct:spatial"]["locn:geometry"]["@value"]
    assert "each the moved mean of the traj" in metadata["dct:description"]["@value"]
    days = account | {"unit": "day", "width": None, "told_apart": None}
    said = certificate(days, released, "1.0")["metadata"]["dct:description"]["@value"]
    assert "each the plain mean of the days of at least" in said


def test_figures_are_those_of_the_evaluation(account: dict[str, Any], released: Path) -> None:
    made = certificate(account, released, "1.0")
    nearest = made["WP29 Opinion 05/2014"]["singling out"][0]
    first = account["attacks"][0]
    assert nearest["mean"] == pytest.approx(first["expected"], abs=0.01)
    assert made["ISO/IEC 27559:2022"]["8.2 average risk"] == pytest.approx(
        max(one["expected"] for one in account["attacks"] if one["against"] == "release"), abs=0.01
    )
    assert made["cost"]["metres moved"] == account["published"]["metres moved"]
    followed, persons = made["WP29 Opinion 05/2014"]["linkability"][-2], account["persons"]
    of_steps = Crowd(min(persons["steps"], 200), shares=True)
    first = {start: of_steps.number(one["first"]) for start, one in persons["followed"].items()}
    below = persons["people_below"] / persons["people"]
    assert followed == {
        "attack": "one person, from line to line",
        "next line first, if the one before is known": first["known"],
        "if its line is known": first["line"],
        "people with fewer than k on all their lines": Crowd(
            min(persons["people"], 200), shares=True
        ).number(below),
    }
    told_apart, patient = (
        account["told_apart"],
        made["WP29 Opinion 05/2014"]["whoever holds all other tracks"],
    )
    assert told_apart == ToldApart.of(account["points"], account["width"])._asdict()
    assert 0.0 <= patient["mu, 100 m to the side"] - told_apart["mu"] < 0.01
    cases = int(patient["in words"].partition(" of 100 cases")[0].rpartition(" ")[2])
    assert cases - 1 < 100.0 * told_apart["right"] <= cases
    verified = account["verification"]
    of_lines = Crowd(min(verified["lines"], 200), shares=True)
    for name, figure in (("members verified", "verified"), ("likeliest people right", "right")):
        low, high = patient[name]["90 % interval"]
        assert patient[name]["value"] == of_lines.number(verified[figure]["value"])
        assert low == of_lines.bounds(verified[figure]["low"])[0]
        assert high == of_lines.bounds(verified[figure]["high"])[1]
    rebuilt = patient["hidden member rebuilt, error as a share of the line's"]
    assert rebuilt["of medians"]["value"] == of_lines.number(
        account["rebuilding"]["share"]["value"]
    )


def test_what_nobody_measured_is_not_assessed(account: dict[str, Any], released: Path) -> None:
    account |= {
        "verification": None,
        "rebuilding": None,
        "rebuilt_times": None,
        "habits": None,
        "told_apart": None,
        "chains": None,
        "persons": None,
        "attacks": [],
    }
    made = certificate(account, released, "1.0")
    assert made["ISO/IEC 27559:2022"]["8.2 average risk"] == NOT_ASSESSED
    linked = made["WP29 Opinion 05/2014"]["linkability"]
    assert [{*one.values()} for one in linked] == [
        {"one person, from line to line", NOT_ASSESSED},
        {"pieces of one drive, taken together", NOT_ASSESSED},
    ]
    holding_all = made["WP29 Opinion 05/2014"]["whoever holds all other tracks"]
    assert set(holding_all.values()) == {NOT_ASSESSED}


def test_nothing_in_it_counts_fewer_than_k(account: dict[str, Any], released: Path) -> None:
    """Every whole number is k, or counts more; shares, also of errors, are of hundredths."""

    def numbers(value: object) -> list[float]:
        if isinstance(value, dict):
            return [number for one in value.values() for number in numbers(one)]
        if isinstance(value, list):
            return [number for one in value for number in numbers(one)]
        return [value] if isinstance(value, int | float) else []

    made = dict(certificate(account, released, "1.0"))
    del made["metadata"]
    del made["release"]["area"]
    for number in numbers(made):
        assert number == round(number, 2)
        assert number >= account["k"] or number <= 1 or number % 1, number


def test_what_must_not_be_published_gets_none(account: dict[str, Any], released: Path) -> None:
    account["verdict"] |= {"kind": "stop", "sentences": ["too few"]}
    made = certificate(account, released, "1.0")
    assert made == {
        "certificate": "none: this release must not be published",
        "because": ["too few"],
    }


def test_a_file_is_held_against_its_certificate(account: dict[str, Any], released: Path) -> None:
    made: Any = certificate(account, released, "1.0")
    said = made["release"]
    same = trajanon.Findings(account["k"], said["rows"], said["groups"], 4, [])
    assert repeated(made, released, same) == []
    released.write_bytes(b"other lines")
    fewer = trajanon.Findings(account["k"], said["rows"] - 1, said["groups"], 4, [])
    rows, other = repeated(made, released, fewer)
    rare = trajanon.Findings(2, said["rows"], said["groups"], 2, [])
    assert repeated(made, released, rare)[0].endswith("and a line occurs 2 times")
    assert rows.startswith(f"the certificate says {said['rows']} rows")
    assert "had another SHA-256" in other


def test_each_part_of_a_folder_has_its_hash(account: dict[str, Any], tmp_path: Path) -> None:
    folder = tmp_path / "anonymized"
    folder.mkdir()
    for name in ("part-00000.parquet", "part-00001.parquet", "notes.txt"):
        (folder / name).write_text(name, "utf-8")
    hashes = certificate(account, folder, "1.0")["release"]["sha256"]
    assert list(hashes) == ["part-00000.parquet", "part-00001.parquet"]


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{}", '{"release": {"rows": "9", "groups": 2, "sha256": {}}, "promise": {"k": 4}}'],
)
def test_what_is_no_certificate_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "a.certificate.json"
    path.write_text(text, "utf-8")
    with pytest.raises(FileProblem, match="is no certificate of trajanon"):
        read_certificate(path)
    with pytest.raises(FileProblem, match="cannot be read"):
        read_certificate(tmp_path / "none.json")
