"""Bars of the page: the most that somebody finds out in each way, beside guessing."""

from collections.abc import Sequence
from typing import NamedTuple

from trajanon.evaluation.attacks.attack import Attack
from trajanon.evaluation.attacks.chains import Followed
from trajanon.evaluation.attacks.inference import Inferred


class RiskBar(NamedTuple):
    """How often an attack is right: against the release, the originals, and by guessing."""

    finds: str  # what the adversary looks for
    knows: str
    right: float
    guessing: float
    originals: float


def risk_bars(
    attacks: Sequence[Attack], followed: Followed | None, inferred: Sequence[Inferred]
) -> list[RiskBar]:
    """Return the best attack of each kind: on a row, on the next trip of a person, on a part."""
    bars = []
    released = [attack for attack in attacks if attack.against == "release" and len(attack.targets)]
    on_originals = {attack.name: attack for attack in attacks if attack.against == "originals"}

    singling_out = [attack for attack in released if attack.question == "singling out"]
    if singling_out:
        best = max(singling_out, key=lambda attack: attack.expected)
        # An attack by a whole trajectory is not run on the originals: it finds each at once.
        before = on_originals[best.name].expected if best.name in on_originals else 1.0
        bars.append(
            RiskBar("the row of a person", best.knows, best.expected, best.baseline, before)
        )

    linking = [attack for attack in released if attack.question == "linkability"]
    if linking and followed is not None and followed.found:
        attack = linking[0]
        before = on_originals[attack.name].line_found if attack.name in on_originals else 0.0
        right = max(followed.first, attack.expected)
        known = f"one {followed.unit}"
        bars.append(RiskBar(followed.next, known, right, followed.chance, before))

    shown = max(inferred, key=lambda answer: answer.told)
    bars.append(RiskBar(shown.name, shown.knows, shown.told, shown.guess, 1.0))
    return bars
