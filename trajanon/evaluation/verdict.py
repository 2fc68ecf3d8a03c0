"""The verdict, in words that need no explanation."""

from collections.abc import Iterator

from trajanon.evaluation.cost import BAD, CAUTION, GOOD, cost
from trajanon.evaluation.evidence import Evidence
from trajanon.words import percent


def verdict(evidence: Evidence) -> list[tuple[str, str]]:
    """Say what holds, what remains at risk, and what it costs; the promise first."""
    return [
        *_promise(evidence),
        *_attacks(evidence),
        *_diversity(evidence),
        *cost(evidence.usefulness, evidence.length_kept),
        (
            CAUTION,
            "k-anonymity is not differential privacy. It does not hold against "
            "somebody who knows the other members of a group, nor for several releases "
            "of the same data together.",
        ),
    ]


def _promise(evidence: Evidence) -> Iterator[tuple[str, str]]:
    k, sizes = evidence.k, evidence.sizes
    by_subjects = evidence.counted == "subjects"
    few = evidence.violations["subjects"]
    what = "trajectories" if few is None else "different subjects"
    groups = f"{len(sizes):,} groups of {sizes.min()} to {sizes.max()} trajectories"
    if evidence.holds:
        yield (
            GOOD,
            f"The promise holds: at least {k} {what} stand behind each "
            f"released line ({groups}, none with fewer).",
        )
    else:
        yield BAD, "This release must not be published."
        if sentence := evidence.too_few:
            yield BAD, f"{sentence}."
        elif by_subjects and few is None:
            yield (BAD, "The report promises different subjects, and these trajectories name none.")
        for problem in evidence.problems or []:
            yield BAD, f"In the released file: {problem}."
    if few is None:
        yield (
            CAUTION,
            "Nothing is known of subjects: several trajectories of one person may fill a group.",
        )
    elif evidence.nameless:
        yield (
            CAUTION,
            f"{evidence.nameless:,} recordings of the source name no subject, and "
            "each of them counts as a subject of its own: several may be of one "
            "person.",
        )
    if evidence.left_out:
        yield (
            CAUTION,
            f"{evidence.left_out:,} of "
            f"{evidence.left_out + evidence.trajectories:,} trajectories were left "
            "out of the release, and nothing said here is of them.",
        )
    if evidence.problems is None:
        yield CAUTION, "No released file was looked at: run trajanon check on it."


def _attacks(evidence: Evidence) -> Iterator[tuple[str, str]]:
    on_release = [one for one in evidence.attacks if one.against == "release"]
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


def _diversity(evidence: Evidence) -> Iterator[tuple[str, str]]:
    told, groups = evidence.diversity.account, len(evidence.sizes)
    slid = evidence.diversity_as_slid.account
    if tight := slid["alarms"]:
        yield (
            CAUTION,
            f"In {tight:,} of {groups:,} groups every member stays within "
            f"{slid['tight']:g} m of the released line all along"
            f"{', as its window slid' if evidence.aligned else ''}: the release "
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
    for name, one in ends if evidence.aligned else ():
        if slid[one]:
            yield (
                CAUTION,
                f"In {slid[one]:,} of {groups:,} groups all windows as slid {name} "
                f"within one cell of {slid['cell']:g} m: the release shows that every "
                "member passed through it.",
            )
