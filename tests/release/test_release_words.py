"""What a release holds, costs and leaves out, in words."""

import pytest
from msgspec import structs
from reports import reported

from trajanon.release.release_words import left_out, people_sentences
from trajanon.release.report import InLedger
from trajanon.trajectories.provenance import Provenance


def test_the_source_says_what_is_not_in_the_release() -> None:
    became = {"read": 40, "with a trajectory": 37, "left out": {"too short": 3, "outside": 0}}
    counts = {"trips found": 1_041, "trips too short": 3, "trips with a gap": 0}
    counts |= {"points read": 9_000, "points used": 8_800, "stray points": 200}
    source = Provenance.read({"recordings": became, "counts": counts}).source
    in_ledger = InLedger(already_released=2, rows=[])
    report = structs.replace(reported(n=1_036), source=source, ledger=in_ledger)
    assert left_out(report) == (
        "3 of 40 recordings, 5 of 1,041 trips and 200 of 9,000 points were left out. Reasons: "
        "trips too short (3), trips released before (2), stray points (200)."
    )
    for odd in (7, None, {"read": "many", "left out": {"too short": -1}}, {"left out": 7}):
        found = Provenance.read({"counts": odd, "recordings": odd, "run": odd}).source
        assert found.recordings is None
        assert found.left_out == found.trips == found.points == {}


@pytest.mark.parametrize(("recordings", "count_as"), [(3, 1), (3, 3), (0, 0)])
def test_who_has_no_name_may_be_on_two_lines(recordings: int, count_as: int) -> None:
    source = {"nameless": recordings, "nameless_count_as": count_as}
    sentence = people_sentences(reported(choice={"people": 500}, source=source))
    named = " with a name" if recordings else ""
    assert sentence == f"Nobody{named} is on two lines."
