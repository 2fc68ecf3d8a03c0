"""The record of processing: its facts, its blanks, and words of strangers on it."""

import re
from dataclasses import fields, replace
from html import unescape
from typing import TYPE_CHECKING

import pytest
from evaluations import Evaluated, evaluated
from msgspec import structs
from toy import toy

from trajanon import Publisher
from trajanon.evaluation.evidence import NOTICE, Evaluation
from trajanon.evaluation.release_certificate import processing_record

if TYPE_CHECKING:
    from playwright.sync_api import Browser

ADDRESSES = {"contact": "a@madrid.es", "officer": "b@madrid.es", "address": "https://madrid.es"}


def said(page: str) -> dict[str, tuple[str, str]]:
    """The answers, and what each rests on, by their questions."""
    rows = re.findall(
        r'<th scope="row">(.*?)</th>\s*<td>(.*?)</td>\s*<td><small>(.*?)</small>', page, re.DOTALL
    )
    return {
        unescape(question): (unescape(re.sub(r"<[^>]+>", " ", answer)).strip(), unescape(basis))
        for question, answer, basis in rows
    }


@pytest.fixture
def evaluation(slid_sample: Evaluated) -> Evaluation:
    return slid_sample[0]


def test_the_facts_of_a_release_are_on_it(evaluation: Evaluation) -> None:
    page = processing_record(evaluation)
    assert NOTICE in page.splitlines()[0]
    answers = said(page)
    k = evaluation.k
    measures, basis = answers["(g) Technical measures"]
    assert f"k = {k}: each of {len(evaluation.rows)} released lines" in measures
    assert f"public width of {evaluation.report.width:g} m" in measures
    assert basis == "report of the program"
    proven = answers["(c) Adversary with all other tracks"]
    assert proven[1] == "statement with a proof"
    assert evaluation.verdict.headline in answers["(d) Verdict"][0]
    attacks, basis = answers["(c) Measured attacks"]
    assert basis == "measurement"
    for attack in evaluation.attacks:
        assert (attack.knows in attacks) or attack.against == "originals"


def test_what_nobody_said_is_a_marked_blank(evaluation: Evaluation) -> None:
    answers = said(processing_record(evaluation))
    blanks = {question for question, (answer, _) in answers.items() if not answer}
    assert blanks == {question for question, (_, basis) in answers.items() if basis == "blank"}
    assert {"(a) Controller", "(b) Purposes", "(b) Necessity and proportionality"} <= blanks


def test_all_words_stand_on_it_as_text(evaluation: Evaluation) -> None:
    words = {word.name: f"<b>{word.name}</b> & 'co'" for word in fields(Publisher)}
    publisher = Publisher(**(words | ADDRESSES))
    page = processing_record(replace(evaluation, publisher=publisher))
    assert "<b>" not in page
    shown = unescape(page)
    for word in fields(Publisher):
        # Licence and web address concern the release, not the processing.
        assert (getattr(publisher, word.name) in shown) == (word.name not in ("licence", "address"))
    blanks = {question for question, (_, basis) in said(page).items() if basis == "blank"}
    assert blanks == {
        "(a) Joint controllers, representative",
        "(e) Transfers to third countries",
        "(b) Necessity and proportionality",
        "(d) Measures against what remains",
        "Advice of the data protection officer (35(2))",
        "Views of data subjects (35(9))",
    }


def test_people_are_counted_roughly_or_said_to_be_unknown() -> None:
    nobody = replace(evaluated(toy()), subjects=None)
    answer, _ = said(processing_record(nobody))["(c) Number of data subjects"]
    assert answer == "Not known: the recordings do not name their subjects."
    many = replace(evaluated(toy()), subjects=1_234, trajectories=5_678)
    answers = said(processing_record(many))
    assert answers["(c) Number of data subjects"][0] == "Some 1,200."
    few = replace(many, subjects=7)
    assert said(processing_record(few))["(c) Number of data subjects"][0] == "Fewer than 10."
    assert "some 5,700 trajectories" in answers["(c) Categories of personal data"][0]

    one = replace(many, nameless=1, period="2020-01")
    answers = said(processing_record(one))
    assert answers["(c) Number of data subjects"][0] == "Some 1,200; 1 recording names nobody."
    assert "recorded in 2020-01." in answers["(c) Categories of personal data"][0]


def test_a_release_that_must_not_be_published_has_a_record() -> None:
    stopped = replace(evaluated(toy()), problems=["a line is alone"])
    verdict, _ = said(processing_record(stopped))["(d) Verdict"]
    assert "Do not publish" in verdict
    assert "A line is alone." in verdict


def test_it_is_printed_on_a4(evaluation: Evaluation, browser: "Browser") -> None:
    """Nothing is wider than the paper, and nothing is asked of a network."""
    page = browser.new_page(viewport={"width": 680, "height": 960})
    page.emulate_media(media="print")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.set_content(processing_record(replace(evaluation, publisher=Publisher(name="x" * 200))))
    assert page.evaluate("document.documentElement.scrollWidth") <= 680
    assert asked == []
    page.close()


def test_a_record_promises_no_more_people_than_there_are(evaluation: Evaluation) -> None:
    few = replace(evaluation, violations={"records": 0, "subjects": 2})
    for judged, exception in ((evaluation, False), (few, True)):
        measures, _ = said(processing_record(judged))["(g) Technical measures"]
        assert ("but for 2 of fewer: see (d)" in measures) == exception


def test_recordings_without_names_are_not_called_subjects(evaluation: Evaluation) -> None:
    unnamed = structs.replace(evaluation.report.source, recordings=9, nameless=9)
    report = structs.replace(evaluation.report, source=unnamed, counted="subjects")
    measures, _ = said(processing_record(replace(evaluation, report=report)))[
        "(g) Technical measures"
    ]
    assert f"mean of at least {evaluation.k} different recordings" in measures


def test_the_easiest_of_a_sample_is_that_of_those_tried(evaluation: Evaluation) -> None:
    attacks = [replace(attack, sampled=True) for attack in evaluation.attacks]
    found, _ = said(processing_record(replace(evaluation, attacks=attacks)))["(c) Measured attacks"]
    assert "of the easiest target tried in" in found
