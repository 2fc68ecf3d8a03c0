"""The page of the evidence: what it says, and that it is safe to open and can be read aloud."""

import re
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from evaluations import Evaluated, evaluated, released
from markupsafe import escape
from msgspec import structs
from toy import crossing, toy

import trajanon
from trajanon.evaluation.attacks.attack import QUESTIONS
from trajanon.evaluation.evidence import NOTICE
from trajanon.release.report import Roads
from trajanon.release.verdict_sentences import sentence_of
from trajanon.trajectories.trajectories import OSM_ATTRIBUTION, Trajectories


def test_the_page_is_for_the_holder_and_says_the_verdict_first(slid_sample: Evaluated) -> None:
    evaluation, _ = slid_sample
    lines = evaluation.html.splitlines()
    assert lines[0] == f"<!-- {NOTICE} -->"
    body = evaluation.html.partition("<body>")[2]
    said = [evaluation.verdict.headline, *(answer for _, answer in evaluation.answers)]
    opened = body.partition("<details>")[0]
    places = [opened.index(str(escape(sentence))[:40]) for sentence in said]
    assert f"evaluated on {evaluation.date}" in opened
    assert opened.index(NOTICE) < places[0] < opened.index("<h2>") < places[1]
    assert places == sorted(places)
    assert opened.count("<h2>") == 5


def test_few_words_stand_before_the_first_click(slid_sample: Evaluated) -> None:
    """Verdict, five answers with three bars, and what is lost in three rows.

    A finding has a condition and a sentence: a second one has words of its own.
    """
    body = slid_sample[0].html.partition("<body>")[2]
    _, second = slid_sample[0].verdict.findings
    opened, _, behind = body.partition("<details>")
    opened += behind.partition("</details>")[2]
    assert len(re.sub("<[^>]*>", " ", opened).split()) < 400 + 2 * len(sentence_of(second).split())
    assert opened.count('<svg class="bar"') == 3
    assert opened.count('<tr><th scope="row">') == 3
    assert "<h2>What it costs</h2>" in behind


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
            assert f'colspan="4"><div>{attack.name} <small>' in section
        table = section.partition(f"<caption>Attacks: {question}</caption>")[2]
        table = table.partition("</table>")[0]
        assert table.count('<th scope="row">') == len(tried)
        assert bool(table) == bool(tried)


def test_without_subjects_and_tracks_nothing_is_linked() -> None:
    section = section_of(evaluated(toy(people=None)).html, "Linkability")
    assert "no subject is known, and no drive has several windows" in section
    assert "<table>" not in section


def test_beside_a_finding_stands_a_whole_command() -> None:
    release = trajanon.anonymize(crossing(), 2, align=False, effort="fast")
    page = trajanon.evaluate(crossing(), release).html
    assert "<code>trajanon extract --windows --per-recording 1 FILES &amp;&amp; trajanon" in page


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


def test_what_is_made_again_says_how_it_is_unlike_this_release() -> None:
    street = np.linspace([40.0, 2.0], [40.02, 2.0], 3)
    some = Trajectories(street + np.random.default_rng(0).normal(0.0, 1e-4, (8, 1, 2)))
    found = trajanon.evaluate(some, *released(some), curve=[2], holdout=True)
    assert "but not laid" not in found.html
    assert "is public" not in found.html

    roads = Roads(on_roads=2, as_they_were=0)
    other = structs.replace(found.report, roads=roads, run={"public_places": "a.osm.pbf"})
    page = " ".join(replace(found, report=other).html.split())
    unlike = "as this one was, but not laid on roads, but with no place that is public"
    assert f"{unlike}, and never published" in page
    assert f"These releases are made {unlike}." in page
