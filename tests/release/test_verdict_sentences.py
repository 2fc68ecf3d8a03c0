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
from trajanon.release.verdict_sentences import LABELS, WORDS, Remedy

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
