"""The verdict, in words that need no explanation."""

from trajanon.evaluation.cost import coloured, cost
from trajanon.evaluation.evidence import Evidence


def verdict(evidence: Evidence) -> list[tuple[str, str]]:
    """Say what holds, what remains at risk, and what it costs; the promise first."""
    on_release = [one for one in evidence.attacks if one.against == "release"]
    tried = [one for one in on_release if len(one.targets)]
    return coloured(
        "verdict.txt",
        evidence=evidence,
        tried=tried,
        worst=max(tried, key=lambda one: (one.worst_case, one.exposed), default=None),
        as_cut=evidence.diversity.account,
        slid=evidence.diversity_as_slid.account,
        costs=cost(evidence.usefulness, evidence.length_kept),
    )
