"""The words of findings, and the commands of their remedies."""

import inspect
import re
import shlex
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from trajanon.common.command_lines import Options, command_line
from trajanon.evaluation import evidence
from trajanon.release import verdict as verdicts_judged
from trajanon.release.verdict_sentences import (
    LABELS,
    WORDS,
    Entered,
    Finding,
    Numbers,
    Remedy,
    Share,
    account_of,
    clause_of,
    headline_of,
    label_of,
    sentence_of,
)

OPTIONS = st.dictionaries(
    st.sampled_from(["k", "times", "out", "ledger", "one_line_each", "days"]),
    st.one_of(st.booleans(), st.integers(1, 9), st.text(st.characters(categories=["L", "P", "Z"]))),
)


@given(OPTIONS, st.sampled_from(["one_line_each", "days"]))
def test_a_remedy_keeps_the_command_that_made_the_release(run: Any, changed: str) -> None:
    """Whoever typed a ledger, or another file, would lose it in another command."""
    runs: dict[str, Options] = {"anonymize": run}
    remedy = Remedy("one_line_each", {changed: 7}, runs)
    words = sorted(shlex.split(remedy.command_line))
    assert words == sorted(shlex.split(command_line("anonymize", {**run, changed: 7})))
    without = Remedy("trips_not_days", {changed: None}, runs)
    others = {name: value for name, value in run.items() if name != changed}
    assert without.command_line == command_line("anonymize", others)


def test_a_column_is_named_beside_those_that_were_named() -> None:
    typed: Options = {"paths": ["a b.csv"], "columns": "lat=y,subject=none"}
    runs: dict[str, Options] = {"extract": typed, "anonymize": {"k": 4}}
    remedy = Remedy("name_persons", {"columns": "subject=cab"}, runs)
    assert remedy.command_line == (
        "trajanon extract --columns lat=y,subject=cab 'a b.csv' && trajanon anonymize -k 4"
    )


def test_each_kind_of_finding_and_remedy_has_its_words() -> None:
    sources = [inspect.getsource(module) for module in (verdicts_judged, evidence)]
    quoted = set(re.findall(r'"(\w+)"', "".join(sources)))
    assert quoted >= {*WORDS, *LABELS}  # none is left over

    of_findings = re.findall(r'Finding\(\s*"(\w+)"', "".join(sources))
    of_remedies = re.findall(r'_remedy\(report, "(\w+)"', "".join(sources))
    assert len(of_findings) > 10
    assert {*of_findings} <= {*WORDS}
    assert len(of_remedies) > 8
    assert {*of_remedies} == {*LABELS}


def test_a_sentence_has_its_numbers_with_their_nouns() -> None:
    numbers: Numbers = {"trajectories": 1_234, "groups": 1, "k": 3, "units": "trips"}
    finding = Finding("groups_below_k_trajectories", numbers)
    assert clause_of(finding) == "1,234 of 1 group hold fewer than 3 trips"
    one = Finding("file_problem", {"problem": "a row is odd"})
    assert sentence_of(one) == "A row is odd."


def test_shares_are_of_their_cases() -> None:
    """So that nothing follows of a single person."""
    for cases, share in ((8, "50 % to 75 %"), (1_000_000, "62 %")):
        finding = Finding("drives_betrayed", {"share": Share(0.618, cases), "k": 4})
        assert f"for {share} of the drives" in clause_of(finding)
        assert account_of(finding)["numbers"] == {"share": 0.618, "k": 4}


def test_a_condition_stands_once_in_the_headline() -> None:
    too_few = Finding("groups_below_k_people", {"people": 1, "groups": 2, "k": 3})
    assert headline_of([], may_be_published=True) == "Ready to publish."
    assert headline_of([too_few], may_be_published=False) == "Do not publish."
    drives = Finding("drives_not_checked", {"k": 5})
    once = headline_of([drives], may_be_published=True)
    assert once.startswith("Ready to publish, if ")
    assert headline_of([drives, drives], may_be_published=True) == once


def test_a_release_in_a_ledger_is_forgotten_once_extraction_succeeded() -> None:
    runs: dict[str, Options] = {"extract": {"paths": ["a.csv"]}, "anonymize": {"k": 4}}
    remedy = Remedy("one_window_each", {"per_recording": 1}, runs, Entered("my ledger", 7))
    assert remedy.command_line == (
        "trajanon extract --per-recording 1 a.csv && trajanon ledger forget 'my ledger' 7 "
        "&& trajanon anonymize -k 4"
    )
    finding = Finding("drives_not_checked", {"k": 5}, remedy)
    assert label_of(finding).endswith(", but only if nobody has release 7 yet")
    assert label_of(Finding("drives_not_checked", {"k": 5})) == ""
