"""The certificate beside a release: its figures, its metadata, and what `check` repeats of it."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from evaluations import Evaluated, evaluated
from msgspec import structs
from toy import toy

import trajanon
from trajanon.common.errors import FileProblem
from trajanon.common.number_text import two_digits
from trajanon.evaluation.attacks.attack import Attack
from trajanon.evaluation.evidence import Basis, Evaluation
from trajanon.evaluation.release_certificate import certificate, differences, read_certificate
from trajanon.release.perturbed_places_and_times import ToldApart
from trajanon.release.public_figures import Crowd
from trajanon.release.report import Chains, Length, Mended, Persons, WideGroups
from trajanon.release.verdict_sentences import sentence_of
from trajanon.trajectories.distances import Summary
from trajanon.trajectories.subjects import NAMELESS
from trajanon.trajectories.trajectories import OSM_ATTRIBUTION

pytestmark = pytest.mark.filterwarnings("ignore:ConjunctiveGraph:DeprecationWarning")

# What mobilityDCAT-AP 1.1 asks of a dataset, its distribution and its publisher.
SHAPES = """
@prefix sh: <http://www.w3.org/ns/shacl#> .
@prefix dcat: <http://www.w3.org/ns/dcat#> .
@prefix dct: <http://purl.org/dc/terms/> .
@prefix foaf: <http://xmlns.com/foaf/0.1/> .
@prefix m: <https://w3id.org/mobilitydcat-ap#> .
[] a sh:NodeShape ; sh:targetClass dcat:Dataset ; sh:property
  [ sh:path dct:title ; sh:minCount 1 ; sh:nodeKind sh:Literal ; sh:minLength 1 ] ,
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
  [ sh:path dct:rights ; sh:minCount 1 ; sh:maxCount 1 ; sh:class dct:RightsStatement ] ,
  [ sh:path dct:license ; sh:maxCount 1 ; sh:nodeKind sh:IRI ] .
[] a sh:NodeShape ; sh:targetClass foaf:Agent ; sh:property
  [ sh:path foaf:name ; sh:minCount 1 ; sh:nodeKind sh:Literal ] ,
  [ sh:path foaf:mbox ; sh:nodeKind sh:IRI ; sh:pattern "^mailto:" ] ,
  [ sh:path foaf:workplaceHomepage ; sh:maxCount 1 ; sh:nodeKind sh:IRI ] .
"""


WORDS = trajanon.Publisher(
    title="Viajes de Madrid",
    name="Ayuntamiento de Madrid",
    contact="datos@madrid.es",
    address="https://datos.madrid.es/viajes?a=1",
    licence="ODbL-1.0",
    recipients="everybody",
    context="neighbours \x1b[2J<script>",
    before_release="the council, on 3 May",
    after_release="the office, each May",
    officer="dpd@madrid.es",
    purpose="planning of bus lines",
    legal_basis="Article 6(1)(e)",
    retention="two years",
)
PLACEHOLDERS = ("example.org", "to be named", "unknown", "TODO")


@pytest.fixture
def evaluation(slid_sample: Evaluated) -> Evaluation:
    return slid_sample[0]


@pytest.fixture
def released(tmp_path: Path) -> Path:
    path = tmp_path / "anonymized.parquet"
    path.write_bytes(b"lines")
    return path


def with_report(evaluation: Evaluation, **changes: Any) -> Evaluation:
    return replace(evaluation, report=structs.replace(evaluation.report, **changes))


def published_mean(evaluation: Evaluation, attack: Attack) -> float | list[float]:
    """How often an attack finds a row, no finer than all trajectories of one person allow."""
    people = len(attack.targets) / evaluation.most_of_one
    return Crowd(min(people, 200), shares=True).number(attack.expected)


def certified(evaluation: Evaluation, released: Path) -> Any:
    """The certificate as others read it."""
    return json.loads(json.dumps(certificate(evaluation, released)))


def conforms(metadata: dict[str, Any]) -> bool:
    # Imported here: every worker imports each module of tests.
    import rdflib
    from pyshacl import validate

    graph = rdflib.Graph().parse(data=json.dumps(metadata), format="json-ld")
    shapes = rdflib.Graph().parse(data=SHAPES, format="turtle")
    found, _, _ = validate(graph, shacl_graph=shapes, inference="none")
    return bool(found)


def clauses(made: Any) -> dict[str, Any]:
    return {clause["clause"]: clause for clause in made["ISO/IEC 27559:2022"]}


def test_metadata_are_those_of_mobility_portals(evaluation: Evaluation, released: Path) -> None:
    said = replace(evaluation, publisher=WORDS)
    metadata = certified(said, released)["metadata"]
    assert conforms(metadata)
    for name in ("dct:title", "dct:publisher", "dct:spatial", "dcat:distribution"):
        assert not conforms({key: value for key, value in metadata.items() if key != name})
    assert metadata["dct:publisher"]["foaf:mbox"] == {"@id": "mailto:datos@madrid.es"}
    page = replace(WORDS, contact="https://madrid.es/datos")
    assert conforms(certified(replace(evaluation, publisher=page), released)["metadata"])
    west, south, *_ = evaluation.area
    assert f"POLYGON(({west} {south}, " in metadata["dct:spatial"]["locn:geometry"]["@value"]
    assert "each the moved mean of the traj" in metadata["dct:description"]["@value"]
    days = certified(replace(with_report(evaluation, width=None), unit="day"), released)
    described = days["metadata"]["dct:description"]["@value"]
    assert "each the plain mean of the days of at least" in described


def test_what_the_publisher_does_not_say_is_absent(evaluation: Evaluation, released: Path) -> None:
    """Nothing is invented: the metadata lack what only the publisher knows, and nothing else."""
    made = certified(evaluation, released)
    text = json.dumps(made)
    assert not [word for word in PLACEHOLDERS if word in text]
    assert "publisher" not in made
    metadata = made["metadata"]
    distribution = metadata["dcat:distribution"]
    assert "dct:publisher" not in metadata
    assert "dcat:accessURL" not in distribution
    metadata["dct:publisher"] = {"@type": "foaf:Agent", "foaf:name": "Ada"}
    assert not conforms(metadata)
    distribution["dcat:accessURL"] = {"@id": "https://madrid.es"}
    assert not conforms(metadata)
    distribution["dct:rights"] = {"@type": "dct:RightsStatement"}
    assert conforms(metadata)


def test_the_licence_of_openstreetmap_is_known(evaluation: Evaluation, released: Path) -> None:
    for attribution, known in ((OSM_ATTRIBUTION, True), ("alice", False)):
        made = certified(with_report(evaluation, attribution=attribution), released)
        distribution = made["metadata"]["dcat:distribution"]
        assert ("ODbL" in json.dumps(distribution.get("dct:license"))) == known
        assert (distribution.get("dct:rights", {}).get("rdfs:label") == OSM_ATTRIBUTION) == known
        assert "alice" not in json.dumps(made)


def test_a_licence_in_free_words_is_a_right(evaluation: Evaluation, released: Path) -> None:
    for licence, address in (("ask us", None), ("CC0-1.0", "https://spdx.org/licenses/CC0-1.0")):
        words = replace(WORDS, licence=licence)
        said = replace(with_report(evaluation, attribution=None), publisher=words)
        metadata = certified(said, released)["metadata"]
        assert conforms(metadata)
        distribution = metadata["dcat:distribution"]
        assert distribution["dct:rights"]["rdfs:label"] == licence
        assert distribution.get("dct:license", {}).get("@id") == address


def test_only_what_is_for_publication_is_published(evaluation: Evaluation, released: Path) -> None:
    text = json.dumps(certified(replace(evaluation, publisher=WORDS), released))
    for name in ("officer", "purpose", "legal_basis", "retention"):
        assert getattr(WORDS, name) not in text
    assert "neighbours [2J<script>" in text


def test_each_clause_is_answered_by_a_number_or_by_the_publisher(
    evaluation: Evaluation, released: Path
) -> None:
    answers = clauses(certified(replace(evaluation, publisher=WORDS), released))
    assert list(answers) == ["6", "7.3", "7.3.2", "8.2.3", "9.2", "9.4"]
    attacks = [attack for attack in evaluation.attacks if attack.against == "release"]
    best = max(attacks, key=lambda attack: attack.expected)
    assert answers["7.3"]["knows"] == {attack.name: attack.knows for attack in attacks}
    assert answers["7.3.2"]["attack"] == best.name
    assert answers["7.3.2"]["average"] == published_mean(evaluation, best)
    worst = max(attack.worst_case for attack in attacks)
    assert answers["7.3.2"]["maximum of all attacks"] == pytest.approx(worst, abs=0.005)
    assert answers["8.2.3"][f"{best.name}: a row"] == answers["7.3.2"]["average"]
    assert {answers[number]["basis"] for number in ("7.3", "7.3.2", "8.2.3")} == {"measurement"}
    assert answers["6"]["recipients"] == "everybody"
    assert answers["9.2"] == {
        "clause": "9.2",
        "subject": "governance before release",
        "basis": "the publisher's word",
        "approved": "the council, on 3 May",
    }
    assert answers["9.4"]["reviewed"] == "the office, each May"
    blank = clauses(certified(evaluation, released))
    assert {blank[number]["basis"] for number in ("6", "9.2", "9.4")} == {"blank"}


@pytest.mark.parametrize("most_of_one", [1, 3, 40])
def test_certificate_and_datasheet_round_a_share_alike(
    evaluation: Evaluation, released: Path, most_of_one: int
) -> None:
    """Whoever has both knows no more than the coarser of the two says."""
    evaluation = replace(evaluation, most_of_one=most_of_one)
    attacks = [attack for attack in evaluation.attacks if attack.against == "release"]
    singling_out = [attack for attack in attacks if attack.question == "singling out"]
    best = max(singling_out, key=lambda attack: attack.expected)

    entries = certified(evaluation, released)["WP29 Opinion 05/2014"]["singling out"]
    (mean,) = [entry["mean"] for entry in entries if entry["attack"] == best.name]
    low, high = mean if isinstance(mean, list) else (mean, mean)
    shown = f"{low:.0%} to {high:.0%}" if high > low else f"{low:.0%}"
    assert f"picks the person's row in {shown.replace('%', ' %')} of cases" in (
        " ".join(evaluation.datasheet.split())
    )


def test_each_entry_says_what_it_rests_on(evaluation: Evaluation, released: Path) -> None:
    made = certified(replace(evaluation, publisher=WORDS), released)
    assert set(made["bases"]) >= {"measurement", "statement with a proof", "the publisher's word"}
    lists = (
        *made["WP29 Opinion 05/2014"].values(),
        made["whoever holds all other tracks"],
        made["ISO/IEC 27559:2022"],
    )
    entries = [entry for entries in lists for entry in entries]
    entries += [made[name] for name in ("release", "promise", "cost", "publisher")]
    assert {entry["basis"] for entry in entries} <= made["bases"].keys()
    proven = [entry for entry in entries if entry["basis"] == "statement with a proof"]
    assert [[name for name in entry if name.startswith("mu,")] for entry in proven] == [
        ["mu, 100 m to the side"]
    ]


def test_figures_are_those_of_the_evaluation(evaluation: Evaluation, released: Path) -> None:
    made = certified(evaluation, released)
    nearest = made["WP29 Opinion 05/2014"]["singling out"][0]
    assert nearest["mean"] == published_mean(evaluation, evaluation.attacks[0])
    assert made["cost"]["metres moved"] == evaluation.account["published"]["metres moved"]

    people = made["WP29 Opinion 05/2014"]["linkability"][-2]
    followed = evaluation.followed
    assert followed is not None
    left = followed.left["people"]
    of_steps = Crowd(min(followed.steps / evaluation.most_of_one, 200), shares=True)
    first = {start: of_steps.number(ranks.first) for start, ranks in followed.found.items()}
    assert people == {
        "basis": "measurement",
        "attack": "one person, from line to line",
        "next line first, if the one before is known": first["known"],
        "if its line is known": first["line"],
        "people with fewer than k on all their lines": Crowd(
            min(left.several, 200), shares=True
        ).number(left.below / left.several),
    }


def test_the_patient_adversary_is_certified(evaluation: Evaluation, released: Path) -> None:
    members, rebuilt, *_, proven = certified(evaluation, released)["whoever holds all other tracks"]
    told_apart = evaluation.told_apart
    width = evaluation.report.width
    assert width is not None
    assert told_apart == ToldApart.of(evaluation.points, width)
    assert 0.0 <= proven["mu, 100 m to the side"] - told_apart.mu < 0.01
    cases = int(proven["in words"].partition(" of 100 cases")[0].rpartition(" ")[2])
    assert cases - 1 < 100.0 * told_apart.right <= cases

    verified = evaluation.verification
    of_lines = Crowd(min(verified.lines, 200), shares=True)
    for name, figure in (
        ("members verified", verified.verified),
        ("likeliest people right", verified.right),
    ):
        low, high = members[name]["90 % interval"]
        assert members[name]["value"] == of_lines.number(figure.value)
        assert low == of_lines.bounds(figure.low)[0]
        assert high == of_lines.bounds(figure.high)[1]
    shares = rebuilt["error as a share of the line's"]
    assert shares["of medians"]["value"] == of_lines.number(evaluation.rebuilding.share.value)


def test_the_statement_names_what_its_proof_assumes(evaluation: Evaluation, released: Path) -> None:
    # Of one group the public width follows from each of its trips.
    *_, proven = certified(evaluation, released)["whoever holds all other tracks"]
    assert proven["in words"].endswith("if groups and public width are the same for both.")


@pytest.mark.parametrize("most_of_one", [1, 20])
def test_habits_tell_nothing_of_a_person_with_most_trips(
    evaluation: Evaluation, released: Path, most_of_one: int
) -> None:
    guessed = evaluation.habits
    assert guessed is not None
    evaluation = replace(evaluation, most_of_one=most_of_one)
    people = guessed.targets / most_of_one
    crowd = Crowd(min(people, 200), shares=True)

    _, *guesses, _ = certified(evaluation, released)["whoever holds all other tracks"]
    (habits,) = [entry for entry in guesses if "other trajectories" in entry["attack"]]
    shares = habits["error as a share of the line's"]
    share = guessed.share.value
    assert shares["of medians"]["value"] == crowd.number(share)
    datasheet = " ".join(evaluation.datasheet.split())
    assert f"guesses the hidden one {crowd.text(share, two_digits)} as far off" in datasheet


def test_all_conditions_are_certified(evaluation: Evaluation, released: Path) -> None:
    many = with_report(
        evaluation,
        chains=Chains(drives=100, drives_below=3),
        persons=Persons(people=100, people_below=50),
        displacement=Summary(mean=30.0, median=30.0, p95=30.0, max=30.0),
        length=Length(100.0, 100.0),
        mended=Mended(wide=WideGroups(left=evaluation.report.groups)),
    )
    findings = many.verdict.findings
    assert len(findings) > len(many.verdict.shown)
    conditions = certified(many, released)["promise"]["conditions"]
    assert conditions == [sentence_of(finding) for finding in findings]


def test_what_nobody_measured_is_not_assessed(evaluation: Evaluation, released: Path) -> None:
    nothing = replace(
        with_report(evaluation, width=None),
        rebuilt_times=None,
        habits=None,
        chained={},
        followed=None,
        attacks=[attack for attack in evaluation.attacks if attack.question == "singling out"],
    )
    made = certified(nothing, released)
    linked = made["WP29 Opinion 05/2014"]["linkability"]
    assert {entry["basis"] for entry in linked} == {Basis.NOT_ASSESSED}
    _, _, *never_measured = made["whoever holds all other tracks"]
    assert {entry["basis"] for entry in never_measured} == {Basis.NOT_ASSESSED}


def numbers(value: object) -> Iterator[float]:
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        for entry in value:
            yield from numbers(entry)
    elif isinstance(value, int | float):
        yield value


def test_nothing_in_it_counts_fewer_than_k(evaluation: Evaluation, released: Path) -> None:
    """Every whole number is k, or counts more; shares, also of errors, are of hundredths."""
    made = certified(replace(evaluation, publisher=WORDS), released)
    del made["metadata"]
    del made["release"]["area"]
    for number in numbers(made):
        assert number == round(number, 2)
        assert number >= evaluation.k or number <= 1 or number % 1, number


def test_what_must_not_be_published_gets_none(evaluation: Evaluation, released: Path) -> None:
    assert certified(replace(evaluation, problems=["too few"]), released) == {
        "certificate": "none: this release must not be published",
        "because": ["Too few."],
    }


def test_a_file_is_held_against_its_certificate(evaluation: Evaluation, released: Path) -> None:
    made = certified(evaluation, released)
    k = evaluation.k
    rows = made["release"]["rows"]
    groups = made["release"]["groups"]
    assert differences(made, released, trajanon.Findings(k, rows, groups, k, [])) == []
    before = made["release"]["sha256"][released.name]
    released.write_bytes(b"other lines")
    fewer = trajanon.Findings(2, rows - 1, groups, 2, [])
    of_rows, of_rarest, of_bytes = differences(made, released, fewer)
    assert of_rows.sentence == f"rows: {rows} in the certificate, {rows - 1} in the file"
    assert of_rarest.sentence == (
        f"rows of the rarest line: at least {k} in the certificate, 2 in the file"
    )
    assert of_bytes.what == "SHA-256"
    assert of_bytes.certified == before
    assert of_bytes.in_file not in (before, "none")


def test_each_part_of_a_folder_has_its_hash(evaluation: Evaluation, tmp_path: Path) -> None:
    folder = tmp_path / "anonymized"
    folder.mkdir()
    for name in ("part-00000.parquet", "part-00001.parquet", "part-00000 (1).parquet"):
        (folder / name).write_text(name, "utf-8")
    made = certified(evaluation, folder)
    assert list(made["release"]["sha256"]) == ["part-00000.parquet", "part-00001.parquet"]
    (folder / "part-00001.parquet").unlink()
    release = made["release"]
    same = trajanon.Findings(evaluation.k, release["rows"], release["groups"], evaluation.k, [])
    (lost,) = differences(made, folder, same)
    assert lost.in_file == "none"


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{}", '{"release": {"rows": "9", "groups": 2, "sha256": {}}, "promise": {"k": 4}}'],
)
def test_what_is_no_certificate_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "a.certificate.json"
    path.write_text(text, "utf-8")
    with pytest.raises(FileProblem, match="is not a certificate of trajanon"):
        read_certificate(path)
    with pytest.raises(FileProblem, match="cannot be read"):
        read_certificate(tmp_path / "none.json")


def test_recordings_without_names_are_not_called_subjects(
    evaluation: Evaluation, released: Path
) -> None:
    unnamed = structs.replace(evaluation.report.source, recordings=9, nameless=9)
    nobody = with_report(evaluation, source=unnamed, counted="subjects")
    described = certified(nobody, released)["metadata"]["dct:description"]["@value"]
    assert f"of at least {evaluation.k} different recordings" in described


def test_the_highest_of_a_sample_says_so(evaluation: Evaluation, released: Path) -> None:
    for sampled in (False, True):
        attacks = [replace(attack, sampled=sampled) for attack in evaluation.attacks]
        made = certified(replace(evaluation, attacks=attacks), released)
        for attack in made["WP29 Opinion 05/2014"]["singling out"]:
            assert attack.get("sampled", False) is sampled
        assert clauses(made)["7.3.2"].get("sampled", False) is sampled


def test_who_is_on_two_lines_is_not_measured_where_nobody_is_named(released: Path) -> None:
    provenance = {"trips": True, "counts": {NAMELESS: 4}, "recordings": {"read": 4}}
    nobody = evaluated(replace(toy(), provenance=provenance))
    (people,) = certified(nobody, released)["WP29 Opinion 05/2014"]["linkability"]
    assert people == {"basis": "not assessed", "attack": "one person, from line to line"}
    assert "All trips of a person together" in nobody.datasheet
    assert "Not tried: no subject is known" in nobody.html
    assert ">Recordings<" in nobody.html
    assert nobody.account["persons"] is None
