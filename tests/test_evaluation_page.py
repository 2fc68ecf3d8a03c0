"""The page of the evidence: what it says, and that it is safe to open and can be read aloud."""

import re
from itertools import pairwise

import pytest
from evaluations import Evaluated, evaluated, released
from markupsafe import escape
from toy import crossing, toy

import trajanon
from trajanon.evaluation.evidence import NOTICE
from trajanon.number_text import metres, percent
from trajanon.privacy.attack import QUESTIONS
from trajanon.trajectories import OSM_ATTRIBUTION
from trajanon.verdict import cost, source


def test_the_page_is_for_the_holder_and_says_the_verdict_first(slid_sample: Evaluated) -> None:
    evaluation, report = slid_sample
    lines = evaluation.html.splitlines()
    assert lines[0] == f"<!-- {NOTICE} -->"
    body = evaluation.html.partition("<body>")[2]
    said = [evaluation.verdict.headline, cost(report), source(report), *evaluation.facts]
    places = [body.index(str(escape(sentence))[:40]) for sentence in said]
    assert places == sorted(places)
    assert f"evaluated on {evaluation.date}" in body
    assert body.index(NOTICE) < places[0] < places[2] < body.index("<h2>") < places[3]
    assert places[-1] < body.index("<table>")


def test_the_page_can_be_read_aloud(slid_sample: Evaluated) -> None:
    """Headings go down step by step; each table has a name, and each of its headers."""
    page = slid_sample[0].html
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


def test_each_question_has_a_table_of_its_attacks(slid_sample: Evaluated) -> None:
    evaluation, _ = slid_sample
    assert {one.question for one in evaluation.attacks} == {"singling out", "linkability"}
    for question in QUESTIONS:
        section = section_of(evaluation.html, question.capitalize())
        tried = [one for one in evaluation.attacks if one.question == question]
        for attack in tried:
            assert f'colspan="6"><div>{attack.name} <small>' in section
        table = section.partition(f"<caption>Attacks: {question}</caption>")[2]
        table = table.partition("</table>")[0]
        assert table.count('<th scope="row">') == len(tried)
        assert bool(table) == bool(tried)


def test_without_subjects_and_tracks_nothing_is_linked() -> None:
    section = section_of(evaluated(toy(people=None)).html, "Linkability")
    assert "no subject is known to have several trajectories" in section
    assert "<table>" not in section


def test_options_in_the_verdict_are_not_broken() -> None:
    release = trajanon.anonymize(crossing(), 2, align=False, effort="fast")
    page = trajanon.evaluate(crossing(), release).html
    assert '<code>trajanon extract <span class="option">--windows</span></code>' in page


def test_what_members_have_in_common_is_inference(slid_sample: Evaluated) -> None:
    evaluation, _ = slid_sample
    said = evaluation.diversity.words
    assert said in section_of(evaluation.html, "Inference")
    assert evaluation.html.count(said) == 1


def test_the_page_asks_for_no_network(slid_sample: Evaluated) -> None:
    page = slid_sample[0].html
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
