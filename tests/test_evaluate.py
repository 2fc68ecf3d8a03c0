"""The evidence: numbers of small cases by hand, and the three files that hold it."""

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from toy import NORTH, toy

import trajanon
from trajanon.arrays import Floats
from trajanon.errors import BadInput
from trajanon.evaluation.adversaries import SLID
from trajanon.evaluation.cost import AS_SLID, MDAV, NOTHING, RELEASE
from trajanon.evaluation.evidence import NOTICE, Evaluation
from trajanon.files.release import write_release
from trajanon.files.release_lines import as_written
from trajanon.files.report import checked, grids_in
from trajanon.privacy.attack import QUESTIONS
from trajanon.trajectories import OSM_ATTRIBUTION, Trajectories
from trajanon.utility import displacement
from trajanon.words import metres, percent


def released(
    trajectories: Trajectories, k: int = 2, **options: Any
) -> tuple[Trajectories, dict[str, Any]]:
    release = trajanon.anonymize(trajectories, k, effort="fast", **options)
    return release.trajectories, release.report


def evaluated(trajectories: Trajectories, k: int = 2, **options: Any) -> Evaluation:
    return trajanon.evaluate(trajectories, *released(trajectories, k, **options))


@pytest.fixture(scope="module")
def sample(madrid: Trajectories) -> tuple[Evaluation, Mapping[str, Any]]:
    """A release of the bundled sample whose windows slid, and its report."""
    few = madrid.take(np.arange(0, len(madrid), 2))
    release, report = released(few, 3)
    return trajanon.evaluate(few, release, report), report


def test_pairs_are_measured_as_by_hand() -> None:
    evaluation = evaluated(toy(), digits=7)
    account = evaluation.account
    assert evaluation.holds
    assert (evaluation.k, evaluation.counted) == (2, "subjects")
    assert (evaluation.trajectories, evaluation.points, evaluation.subjects) == (4, 3, 4)
    assert evaluation.sizes.tolist() == [2, 2]
    assert account["violations"] == {"records": 0, "subjects": 0}
    # Each line moves 10 m to the middle of its pair, whoever makes the pairs.
    for way in (RELEASE, MDAV):
        left = evaluation.usefulness[way]
        for distance in (left.displacement, left.frechet, left.warping):
            assert list(distance.values()) == pytest.approx([10.0] * 4, rel=1e-3)
        assert left.length_change == pytest.approx(0.0, abs=1e-6)
        assert left.turn == pytest.approx(0.0, abs=1e-4)
    assert evaluation.usefulness[NOTHING].displacement["max"] == 0.0
    # Columns: latitudes -1010, -990, 990, 1010 m about their mean; longitudes constant.
    expected = 100 * 4 * 10.0**2 / (2 * 1010.0**2 + 2 * 990.0**2)
    assert evaluation.loss[RELEASE] == pytest.approx(expected, rel=1e-4)
    assert evaluation.loss[MDAV] == pytest.approx(expected, rel=1e-4)
    assert evaluation.loss[NOTHING] == 0.0
    assert evaluation.loss[RELEASE] == pytest.approx(
        evaluation.report["information_loss"], rel=1e-4
    )
    nearest = evaluation.attacks[0].account
    assert (nearest["name"], nearest["baseline"]) == ("nearest record", 0.5)
    assert nearest["expected"] == nearest["worst_case"] == 0.5
    assert not evaluation.aligned


def test_the_price_of_subjects_is_that_of_other_pairs() -> None:
    """Neighbours are of one person: pairs of two people have to span 2 km."""
    trajectories = Trajectories(toy().points, subject=np.array([0, 0, 1, 1]))
    release, report = released(trajectories)
    price = trajanon.evaluate(trajectories, release, report).price
    assert price is not None
    for paid in price:
        near = 100 * 4 * 10.0**2 / (2 * 1010.0**2 + 2 * 990.0**2)
        far = 100 * 4 * 1000.0**2 / (2 * 1010.0**2 + 2 * 990.0**2)
        assert paid.records == pytest.approx(near, rel=1e-3)
        assert paid.subjects == pytest.approx(far, rel=1e-3)
        assert (paid.violations, paid.groups) == (2, 2)
    assert trajanon.evaluate(trajectories, release, {**report, "k": 3}).price == []


def test_windows_that_slid_are_measured_both_ways(
    sample: tuple[Evaluation, Mapping[str, Any]],
) -> None:
    evaluation, report = sample
    assert evaluation.aligned
    slid = evaluation.usefulness[AS_SLID]
    assert slid.displacement == pytest.approx(report["displacement"], rel=1e-4)
    assert evaluation.loss[AS_SLID] == pytest.approx(report["information_loss"], rel=1e-3)
    in_file = evaluation.usefulness[RELEASE].displacement
    assert in_file["mean"] > slid.displacement["mean"]
    names = [attack.name for attack in evaluation.attacks]
    assert names[:2] == ["nearest record", "nearest record, as slid"]
    on_release = [one for one in evaluation.attacks if one.against == "release"]
    assert [one.name for one in on_release[1::2]] == [
        f"{one.name}, as slid" for one in on_release[::2]
    ]
    assert "as the report does" in evaluation.html


def test_groups_are_as_tight_as_the_windows_that_were_averaged(
    madrid: Trajectories, sample: tuple[Evaluation, Mapping[str, Any]]
) -> None:
    """A window that slid a kilometre is far from its line, and its track on it."""
    evaluation, report = sample
    few = madrid.take(np.arange(0, len(madrid), 2))
    slid = few.slid(np.array(report["alignment"]["starts"])).points
    labels = np.array(report["labels"])
    means = np.stack([slid[labels == g].mean(axis=0) for g in range(labels.max() + 1)])
    lines = as_written(means, None, grids_in(checked(report), len(means)))
    away = displacement(slid, lines[labels]).max(axis=1)
    tight = sum(away[labels == g].max() <= 50.0 for g in range(len(lines)))
    assert tight > 0
    assert len(evaluation.diversity_as_slid.alarms) == tight
    assert len(evaluation.diversity.alarms) < tight
    said = "\n".join(sentence for _, sentence in evaluation.verdict)
    assert f"In {tight} of {len(lines)} groups every member stays within 50 m" in said
    assert "--min-radius 50 leaves these groups out" in said
    assert "groups all windows as slid begin within one cell" in said
    assert evaluation.account["diversity_as_slid"]["alarms"] == tight
    assert evaluation.diversity_as_slid.words in evaluation.html


def test_a_promise_that_is_not_kept_comes_first() -> None:
    release, report = released(toy())
    evaluation = trajanon.evaluate(toy(), release, {**report, "k": 3})
    assert not evaluation.holds
    assert evaluation.verdict[0] == ("bad", "This release must not be published.")
    few = "2 of 2 groups hold fewer than 3 different subjects."
    assert evaluation.verdict[1] == ("bad", few)
    assert evaluation.account["violations"] == {"records": 2, "subjects": 2}


def test_a_group_of_one_person_is_told() -> None:
    release, report = released(toy(people=1), count="records")
    for counted in ("records", "subjects"):
        report["counted"] = counted
        evaluation = trajanon.evaluate(toy(people=1), release, report)
        assert not evaluation.holds
        assert evaluation.account["violations"] == {"records": 0, "subjects": 2}
        assert evaluation.verdict[1] == (
            "bad",
            "2 records stand behind each line, but not 2 people: 2 of 2 groups hold "
            "fewer than 2 different subjects.",
        )


def test_without_subjects_nothing_is_said_of_them() -> None:
    evaluation = evaluated(toy(people=None))
    assert evaluation.holds
    assert evaluation.subjects is None
    assert evaluation.price is None
    assert evaluation.account["violations"] == {"records": 0, "subjects": None}
    said = "\n".join(sentence for _, sentence in evaluation.verdict)
    assert "Nothing is known of subjects" in said
    assert "The price of counting people" not in evaluation.html


def test_what_the_checker_found_is_in_the_verdict(tmp_path: Path) -> None:
    release, report = released(toy())
    path = tmp_path / "r.csv"
    trajanon.anonymize(toy(), 2).write(path)
    text = path.read_text(encoding="utf-8")
    evil = "<script>alert(1)</script>"
    header, *rows = text.splitlines()
    text = "\n".join([f"{header},{evil}", *(f"{row},7" for row in rows)])
    path.write_text(text, encoding="utf-8")
    findings = trajanon.check(path, 2)
    evaluation = trajanon.evaluate(toy(), release, report, findings=findings)
    assert not evaluation.holds
    assert evil in evaluation.verdict[1][1]
    assert evil not in evaluation.html
    assert "&lt;script&gt;" in evaluation.html


def test_roads_are_asked_for_originals_and_releases() -> None:
    def to_road(lat: Floats, lon: Floats, within: float) -> Floats:
        away: Floats = np.abs(lat) * NORTH  # the equator is a road
        return np.where(away <= within, away, np.inf)

    release, report = released(toy())
    evaluation = trajanon.evaluate(toy(), release, report, to_road=to_road)
    assert evaluation.roads_before == 0.5  # the lines at 0 and 20 m
    assert evaluation.usefulness[RELEASE].on_roads == 0.5  # both at 10 m
    assert "within 20 m of a road" in evaluation.html


# The page


def test_the_page_is_for_the_holder_and_says_the_verdict_first(
    sample: tuple[Evaluation, Mapping[str, Any]],
) -> None:
    evaluation, _ = sample
    lines = evaluation.html.splitlines()
    assert lines[0] == f"<!-- {NOTICE} -->"
    body = evaluation.html.partition("<body>")[2]
    places = [body.index(sentence[:40]) for _, sentence in evaluation.verdict]
    assert places == sorted(places)
    assert f"evaluated on {evaluation.date}" in body
    assert body.index(NOTICE) < places[0] < body.index("<table>")
    assert places[-1] < body.index("<h2>")


def test_the_page_can_be_read_aloud(sample: tuple[Evaluation, Mapping[str, Any]]) -> None:
    """Headings go down step by step; each table has a name, and each of its headers."""
    page = sample[0].html
    levels = [int(level) for level in re.findall(r"<h(\d)", page)]
    assert (levels[0], levels.count(1)) == (1, 1)
    assert all(after <= before + 1 for before, after in pairwise(levels))
    assert page.count("<main>") == page.count("<header>") == 1
    assert page.count("<table>") == len(re.findall("<table>\n<caption>.+?<", page)) > 4
    assert re.findall(r"<th(?! scope=)[ >]", page) == []
    names = re.findall('<div class="wide" role="region" tabindex="0" (.+?)=', page)
    assert names == ["aria-label"] * page.count("<table>")


def test_large_numbers_have_no_exponent_and_far_is_in_kilometres() -> None:
    assert [percent(share, 2) for share in (0.061, 0.994, 0.996, 83.4)] == [
        "6.1 %",
        "99 %",
        "100 %",
        "8,340 %",
    ]
    far = [metres(distance) for distance in (9.94, 9.96, 9_999, 9_999.9, 1_006_300)]
    assert far == ["9.9 m", "10 m", "9,999 m", "10.0 km", "1,006.3 km"]


def section_of(page: str, heading: str) -> str:
    start = page.index(f"<h2>{heading}</h2>")
    return page[start : page.index("</section>", start)]


def test_each_question_has_a_table_of_its_attacks(
    sample: tuple[Evaluation, Mapping[str, Any]],
) -> None:
    evaluation, _ = sample
    assert {one.question for one in evaluation.attacks} == {"singling out", "linkability"}
    for question in QUESTIONS:
        section = section_of(evaluation.html, question.capitalize())
        tried = [one for one in evaluation.attacks if one.question == question]
        for attack in tried:
            assert f'colspan="6"><div>{attack.name.removesuffix(SLID)} <small>' in section
        table = section.partition(f"<caption>Attacks: {question}</caption>")[2]
        table = table.partition("</table>")[0]
        assert table.count('<th scope="row">') == len(tried)
        assert bool(table) == bool(tried)


def test_without_subjects_and_tracks_nothing_is_linked() -> None:
    section = section_of(evaluated(toy(people=None)).html, "Linkability")
    assert "no subject is known to have several trajectories" in section
    assert "<table>" not in section


def test_the_verdict_begins_with_what_needs_a_decision(
    sample: tuple[Evaluation, Mapping[str, Any]],
) -> None:
    evaluation, _ = sample
    opening, *others = evaluation.verdict
    number = int(re.findall(r"Before you publish, (\d+) things need", opening[1])[0])
    assert opening[0] == "caution"
    needed = " ".join(said for _, said in others[:number])
    rest = " ".join(said for _, said in others[number:])
    assert number > 1
    assert {colour for colour, _ in others[:number]} == {"caution"}
    for asked in ("not for whole drives", "every member stays within 50 m"):
        assert asked in needed
    for found in ("stand behind each released line", "Points moved by", "differential privacy"):
        assert found in rest
    assert not any(colour.endswith("!") for colour, _ in evaluation.verdict)


def test_a_verdict_without_a_reason_to_stop_says_so_and_keeps_the_limits() -> None:
    """Two groups of four people side by side, 110 m apart: no member is near the line."""
    beside = 40.0 + 0.001 * np.array([0.0, 1.0, 2.0, 3.0, 900.0, 901.0, 902.0, 903.0])
    along = np.linspace(2.0, 2.1, 30)
    lines = Trajectories(np.stack(np.broadcast_arrays(beside[:, None], along), axis=2))
    lines = replace(lines, subject=np.arange(8))
    release = trajanon.anonymize(lines, 4)
    evaluation = trajanon.evaluate(lines, release, findings=trajanon.check(release, 4))
    verdict = replace(evaluation, companions=None).verdict
    assert verdict[0] == ("good", "These checks found no reason not to publish.")
    assert "k-anonymity is not differential privacy" in verdict[-1][1]
    opening, asked, *_ = evaluation.verdict
    assert opening == ("caution", "Before you publish, 1 thing needs your decision: the next line.")
    assert asked[1].startswith("Somebody who holds the tracks of everybody else")


@pytest.mark.parametrize("sampled", [False, True])
def test_no_trip_is_found_more_often_as_far_as_was_tried(sampled: bool) -> None:
    points = np.array([[[lat, 2.0], [lat, 3.0]] for lat in (40.0, 40.2, 41.0, 41.2)])
    evaluation = evaluated(Trajectories(points, subject=np.arange(4)))
    attacks = [replace(one, sampled=sampled) for one in evaluation.attacks]
    (said,) = (
        sentence
        for _, sentence in replace(evaluation, attacks=attacks).verdict
        if "is found more often than 1/k" in sentence
    )
    assert said.endswith("as far as they were tried.") == sampled


def test_options_in_the_verdict_are_not_broken(
    sample: tuple[Evaluation, Mapping[str, Any]],
) -> None:
    assert '<span class="option">--min-radius</span> 50 leaves' in sample[0].html


def test_the_verdict_names_the_best_attack_of_each_question(
    sample: tuple[Evaluation, Mapping[str, Any]],
) -> None:
    evaluation, _ = sample
    said = [sentence for _, sentence in evaluation.verdict]
    starts = [sentence.partition(": of ")[0] for sentence in said if ": of " in sentence]
    assert starts == ["Singling out", "Linkability"]
    for start in starts:
        on_release = [
            one
            for one in evaluation.attacks
            if one.against == "release" and one.question == start.lower()
        ]
        best = max(on_release, key=lambda one: one.expected)
        (told,) = (sentence for sentence in said if sentence.startswith(start))
        assert f"of {len(on_release)} attacks that pick a row the best ({best.name}) finds" in told
        assert f"in {percent(best.expected)} of all cases on average; 1/k is 33.3 %" in told


def test_ends_in_common_are_told_in_a_sentence_for_windows_as_cut_and_as_slid(
    sample: tuple[Evaluation, Mapping[str, Any]],
) -> None:
    evaluation, _ = sample
    said = "\n".join(sentence for _, sentence in evaluation.verdict)
    for found, who in (
        (evaluation.diversity.account, "members"),
        (evaluation.diversity_as_slid.account, "windows as slid"),
    ):
        assert found["one_origin"] + found["one_destination"] > 0
        assert said.count(f"groups all {who} begin") == 1
        assert (
            f"In {found['one_origin']} of {found['groups']} groups all {who} begin within one cell "
            f"of 200 m, in {found['one_destination']} all end within one"
        ) in said


def test_what_members_have_in_common_is_inference(
    sample: tuple[Evaluation, Mapping[str, Any]],
) -> None:
    evaluation, _ = sample
    said = evaluation.diversity.words
    assert said in section_of(evaluation.html, "Inference")
    assert evaluation.html.count(said) == 1


def test_the_page_asks_for_no_network(sample: tuple[Evaluation, Mapping[str, Any]]) -> None:
    page = sample[0].html
    for asking in ("src=", "href=", "url(", "@import", "<script", "<link", "<iframe"):
        assert asking not in page
    tags = re.findall(r"<[^>]*>", page)
    assert not [tag for tag in tags if "http" in tag]


@pytest.mark.parametrize("attribution", [OSM_ATTRIBUTION, '"><script>x</script>&'])
def test_the_page_escapes_what_comes_from_files(attribution: str) -> None:
    release, report = released(toy())
    report["attribution"] = attribution
    evaluation = trajanon.evaluate(toy(), release, report)
    assert "<script" not in evaluation.html
    assert evaluation.html.count("<footer>") == 1
    del report["attribution"]  # as of a report by an earlier version
    assert "<footer>" not in trajanon.evaluate(toy(), release, report).html


def test_the_account_is_that_of_the_evaluation(
    sample: tuple[Evaluation, Mapping[str, Any]],
) -> None:
    evaluation, report = sample
    account = evaluation.account
    assert json.loads(json.dumps(account)) == account
    assert next(iter(account.items())) == ("notice", NOTICE)
    assert account["verdict"] == [sentence for _, sentence in evaluation.verdict]
    assert account["utility"] == {
        name: asdict(left) for name, left in evaluation.usefulness.items()
    }
    assert account["attacks"] == [attack.account for attack in evaluation.attacks]
    assert account["groups"] == report["groups"]
    assert account["sizes"]["max"] == max(report["sizes"])


# The datasheet


def test_the_datasheet_holds_nothing_that_a_release_may_not(
    sample: tuple[Evaluation, Mapping[str, Any]],
) -> None:
    evaluation, report = sample
    text = evaluation.datasheet
    assert "k-anonymity is not differential privacy" in text
    rows = f"{report['rows']['subjects']:,}"
    assert f"| Rows | {rows}, one for each different subject of a line |" in text
    assert "madrid" not in text.lower()
    # No places: no number of a degree beyond hundredths, no hour, no day but one.
    assert not re.findall(r"\d+\.\d{4,}|\d\d:\d\d", text)
    assert re.findall(r"\d{4}-\d\d-\d\d", text) == [evaluation.date.isoformat()]


def test_the_datasheet_names_what_it_is_of(sample: tuple[Evaluation, Mapping[str, Any]]) -> None:
    evaluation, _ = sample
    text = replace(evaluation, file="a|b`c\n.csv").datasheet
    assert "| File | `a?b?c?.csv` |" in text
    assert "| File | not named |" in evaluation.datasheet
    assert "| Metres between points | 150 |" in text
    slid, in_file = (evaluation.usefulness[way] for way in (AS_SLID, RELEASE))
    assert in_file.from_runs is not None
    moved = (
        (slid.displacement, "from the windows as slid"),
        (in_file.displacement, "from the windows as in the file"),
        (in_file.from_runs, "from the whole tracks"),
    )
    said = ", ".join(f"{metres(far['mean'])} {what}" for far, what in moved)
    assert f"| Points moved, on average | {said} |" in text
    lost = [f"{evaluation.loss[way]:.3g} %" for way in (AS_SLID, RELEASE)]
    assert f"| {lost[0]} of the windows as slid, {lost[1]} of those as in" in text
    west, south, east, north = evaluation.area
    area = f"latitudes {south:.2f} to {north:.2f}, longitudes {west:.2f} to {east:.2f}"
    assert f"| Area | {area} |" in text


def test_the_area_holds_all_released_lines_and_is_no_finer_than_hundredths() -> None:
    release, report = released(toy())
    area = trajanon.evaluate(toy(), release, report).area
    assert area == (0.0, 0.0, 0.01, 0.02)  # to 222 m east, and to 2,010 m north


@pytest.mark.parametrize("told", [None, "50", True, [5], -5.0, float("nan")])
def test_a_spacing_that_is_no_number_is_not_repeated(told: object) -> None:
    odd = Trajectories(toy().points, provenance={"spacing": told})
    release, report = released(toy())
    assert trajanon.evaluate(odd, release, report).spacing is None


def test_the_datasheet_repeats_no_words_of_a_report() -> None:
    release, report = released(toy())
    report["stages"] += [
        {"name": name, "information_loss": None} for name in ("alice/her.gpx", "none")
    ]
    report["attribution"] = "alice"
    report["notice"] = "alice"
    text = trajanon.evaluate(toy(), release, report).datasheet
    assert "alice" not in text
    assert "To be named by the publisher" in text
    report["attribution"] = OSM_ATTRIBUTION
    text = trajanon.evaluate(toy(), release, report).datasheet
    assert OSM_ATTRIBUTION in text
    assert "ODbL" in text


def test_the_datasheet_says_what_was_left_out_and_not_how_much() -> None:
    ten = Trajectories(np.random.default_rng(0).uniform(40, 41, (10, 3, 2)))
    assert "left out on purpose" not in evaluated(ten).datasheet
    ten.points[8:] += np.array([[[20.0]], [[-20.0]]])  # two unlike all others
    few = evaluated(ten, suppress=0.2)
    said = "\n".join(sentence for _, sentence in few.verdict)
    assert "2 of 10 trajectories were left out of the release" in said
    assert few.account["left_out"] == 2
    assert "on purpose: those unlike all others.\n" in few.datasheet
    far = toy()
    far.points[2:, :, 0] += np.array([[0.0], [0.01]])  # the second pair, 1 km apart
    loose = evaluated(far, min_radius=50.0)
    assert loose.left_out == 2
    assert "on purpose: groups so alike that" in loose.datasheet
    assert "unlike" not in loose.datasheet


def test_recordings_without_a_name_are_told() -> None:
    """Each counts as a subject of its own, which it need not be."""
    provenance = {"counts": {"recordings of unknown subjects": 3}}
    named = toy()
    some = Trajectories(named.points, subject=named.subject, provenance=provenance)
    for one, word in ((named, False), (some, True)):
        evaluation = evaluated(one)
        said = "\n".join(sentence for _, sentence in evaluation.verdict)
        assert ("3 recordings of the source name no subject" in said) == word
        assert ("several may be of one person" in evaluation.datasheet) == word
    for counts in (7, None, {"recordings of unknown subjects": "many"}):
        odd = Trajectories(named.points, provenance={"counts": counts})
        release, report = released(named)
        assert trajanon.evaluate(odd, release, report).nameless == 0


def test_subjects_promised_of_trajectories_that_name_none_are_no_promise() -> None:
    release, report = released(toy())
    evaluation = trajanon.evaluate(toy(people=None), release, report)
    assert not evaluation.holds
    assert evaluation.verdict[1] == (
        "bad",
        "The report promises different subjects, and these trajectories name none.",
    )


def test_the_order_of_the_originals_is_found_in_the_released_file(tmp_path: Path) -> None:
    forty = Trajectories(np.random.default_rng(0).uniform(40, 41, (40, 3, 2)))
    release, report = released(forty, digits=7)
    path = tmp_path / "r.parquet"
    write_release(path, release)
    findings = trajanon.check(path, 2, digits=7)
    assert trajanon.evaluate(forty, release, report, findings=findings).holds
    labels = np.array(report["labels"])
    means = [forty.points[labels == one].mean(axis=0) for one in range(max(labels) + 1)]
    sorted_out = Trajectories(np.round(np.stack(means), 7)[labels])
    evaluation = trajanon.evaluate(forty, sorted_out, report, findings=findings)
    assert not evaluation.holds
    assert "in the order of the originals" in evaluation.verdict[1][1]


# What does not belong together


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"k": None}, "k should be a whole number, and is None"),
        ({"k": "2"}, "k should be a whole number"),
        ({"k": True}, "k should be a whole number"),
        ({"k": 1}, "k must be at least 2"),
        ({"counted": "people"}, "counts 'people', and neither"),
        ({"labels": None}, "labels should be a list"),
        ({"labels": [0, 0, 0]}, "not its groups"),
        ({"labels": [0, 1, 0, 1]}, "do not belong together"),
        ({"n": 5}, "do not belong together"),
        ({"alignment": {"starts": [0, 0, 0, 0]}}, "do not belong together"),
        ({"alignment": {}}, "do not belong together"),
    ],
)
def test_a_report_that_does_not_fit_is_refused(change: dict[str, Any], says: str) -> None:
    release, report = released(toy())
    with pytest.raises(BadInput, match=says):
        trajanon.evaluate(toy(), release, report | change)


def one_more_of_a_line(release: Trajectories) -> Trajectories:
    _, first, copies = np.unique(release.records, axis=0, return_index=True, return_counts=True)
    assert copies.tolist() == [2, 2]
    return release.take(first[[0, 0, 0, 1]])


def test_strangers_are_refused() -> None:
    release, report = released(toy())
    other = Trajectories(toy().points + 0.01)
    for originals, lines in (
        (other, release),
        (toy(), other),
        (release, toy()),
        (toy().take(np.arange(3)), release),
        (toy(), release.take(np.arange(3))),
        (toy(), one_more_of_a_line(release)),
        (Trajectories(toy().points[:, :2]), release),
    ):
        with pytest.raises(BadInput, match="do not belong together"):
            trajanon.evaluate(originals, lines, report)
