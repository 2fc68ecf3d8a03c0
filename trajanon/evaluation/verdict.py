"""The verdict, in words that need no explanation."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from trajanon.evaluation.cost import cost
from trajanon.evaluation.names import BAD, CAUTION, GOOD
from trajanon.words import percent

if TYPE_CHECKING:
    from trajanon.evaluation.evaluation import Evaluation


def verdict(evaluation: "Evaluation") -> list[tuple[str, str]]:
    """Say what holds, what remains at risk, and what it costs; the promise first."""
    return [
        *_promise(evaluation),
        *_attacks(evaluation),
        *_diversity(evaluation),
        *cost(evaluation.usefulness, evaluation.length_kept),
        (
            CAUTION,
            "k-anonymity is not differential privacy. It does not hold against "
            "somebody who knows the other members of a group, nor for several releases "
            "of the same data together.",
        ),
    ]


def _promise(evaluation: "Evaluation") -> Iterator[tuple[str, str]]:
    k, sizes = evaluation.k, evaluation.sizes
    by_subjects = evaluation.counted == "subjects"
    few = evaluation.violations["subjects"]
    what = "trajectories" if few is None else "different subjects"
    groups = f"{len(sizes):,} groups of {sizes.min()} to {sizes.max()} trajectories"
    if evaluation.holds:
        yield (
            GOOD,
            f"The promise holds: at least {k} {what} stand behind each "
            f"released line ({groups}, none with fewer).",
        )
    else:
        yield BAD, "This release must not be published."
        if sentence := evaluation.too_few:
            yield BAD, f"{sentence}."
        elif by_subjects and few is None:
            yield (BAD, "The report promises different subjects, and these trajectories name none.")
        for problem in evaluation.problems or []:
            yield BAD, f"In the released file: {problem}."
    if few is None:
        yield (
            CAUTION,
            "Nothing is known of subjects: several trajectories of one person may fill a group.",
        )
    elif evaluation.nameless:
        yield (
            CAUTION,
            f"{evaluation.nameless:,} recordings of the source name no subject, and "
            "each of them counts as a subject of its own: several may be of one "
            "person.",
        )
    if evaluation.left_out:
        yield (
            CAUTION,
            f"{evaluation.left_out:,} of "
            f"{evaluation.left_out + evaluation.trajectories:,} trajectories were left "
            "out of the release, and nothing said here is of them.",
        )
    if evaluation.problems is None:
        yield CAUTION, "No released file was looked at: run trajanon check on it."


def _attacks(evaluation: "Evaluation") -> Iterator[tuple[str, str]]:
    on_release = [one for one in evaluation.attacks if one.against == "release"]
    tried = [one for one in on_release if len(one.targets)]
    if not tried:
        return
    most = max(tried, key=lambda one: one.expected)
    above = most.expected > most.baseline + 1e-9
    yield (
        CAUTION if above else GOOD,
        f"Of the {len(tried)} attacks tried, the best one ({most.name}) finds a row of "
        f"its target in {percent(most.expected)} of all cases on average; 1/k is "
        f"{percent(most.baseline)}.",
    )
    worst = max(tried, key=lambda one: (one.worst_case, one.exposed))
    exposed = [one for one in tried if one.above.any()]
    if exposed:
        widest = max(exposed, key=lambda one: one.exposed)
        yield (
            CAUTION,
            f"Some trajectories are easier to find: {percent(worst.worst_case)} at "
            f"worst ({worst.name}), where a line has several rows of one subject. In "
            f"the attack “{widest.name}” {percent(widest.exposed)} of all are above "
            f"1/k, in {len(widest.at_fault):,} groups.",
        )
    else:
        yield GOOD, "No trajectory is found more often than 1/k by any of them."


def _diversity(evaluation: "Evaluation") -> Iterator[tuple[str, str]]:
    told, groups = evaluation.diversity.account, len(evaluation.sizes)
    slid = evaluation.diversity_as_slid.account
    if tight := slid["alarms"]:
        yield (
            CAUTION,
            f"In {tight:,} of {groups:,} groups every member stays within "
            f"{slid['tight']:g} m of the released line all along"
            f"{', as its window slid' if evaluation.aligned else ''}: the release "
            "shows where all of them went. anonymize --min-radius "
            f"{slid['tight']:g} leaves these groups out.",
        )
    ends = (("begin", "one_origin"), ("end", "one_destination"))
    for name, one in ends:
        if told[one]:
            yield (
                CAUTION,
                f"In {told[one]:,} of {groups:,} groups all members {name} within one "
                f"cell of {told['cell']:g} m: the release does not hide that place. "
                "extract --trim-ends leaves the ends of traces out.",
            )
    for name, one in ends if evaluation.aligned else ():
        if slid[one]:
            yield (
                CAUTION,
                f"In {slid[one]:,} of {groups:,} groups all windows as slid {name} "
                f"within one cell of {slid['cell']:g} m: the release shows that every "
                "member passed through it.",
            )
