"""Certificate of a release: the assessment in publishable, machine-readable figures."""

import hashlib
import os
from collections import Counter
from collections.abc import Iterator
from math import ceil
from pathlib import Path
from typing import Literal, NamedTuple, NotRequired, TypedDict

import trajanon
from trajanon.common.errors import BadInput, FileProblem
from trajanon.common.inputs import Json, parsed
from trajanon.evaluation.attacks.attack import QUESTIONS, Attack
from trajanon.evaluation.attacks.chains import KNOWN, LINE
from trajanon.evaluation.attacks.known_tracks import Estimate
from trajanon.evaluation.evidence import Basis, Evaluation
from trajanon.evaluation.mobility_metadata import metadata
from trajanon.release.people_left import Left
from trajanon.release.perturbation import ToldApart
from trajanon.release.public_figures import HUNDREDTHS, Crowd
from trajanon.release.release_check import Findings

_BASES = {
    Basis.MEASUREMENT: "counted or tried on the released file and the originals",
    Basis.PROOF: "proven in docs/proof.md of trajanon, from what is assumed there",
    Basis.WORD: "as the publisher says; not checked",
    Basis.BLANK: "the publisher says nothing",
    Basis.NOT_ASSESSED: "nobody measured it",
}


Facts = dict[str, Json]
"""Facts of the certificate by their names, the first of which says what they rest on."""


class Difference(NamedTuple):
    """What a file has, and its certificate says otherwise."""

    what: str
    certified: str
    in_file: str

    @property
    def sentence(self) -> str:
        """Write both."""
        return f"{self.what}: {self.certified} in the certificate, {self.in_file} in the file"


class _Release(TypedDict):
    rows: int
    groups: int
    sha256: dict[str, str]


class _Promise(TypedDict):
    k: int


class CellsForFlows(TypedDict):
    """The smallest cells between which three of four counts are right."""

    cell: Literal["0.5 km", "1 km", "2 km", "3 km"] | None  # None: not even the largest of these
    right: float | list[float]  # share of the counts, between these cells or else the largest


class _Cost(TypedDict):
    flows: NotRequired[CellsForFlows]


class Certified(TypedDict):
    """What is read of a certificate."""

    release: _Release
    promise: _Promise
    cost: NotRequired[_Cost]


def certificate(evaluation: Evaluation, released: str | os.PathLike[str]) -> dict[str, Json]:
    """Certify a release; ready for JSON, and for publication beside it.

    Each entry says whether it is a measurement, a statement with a proof, or the publisher's word.
    Shares are rounded to hundredths, or more, so that none tells of a single one, and no count
    below k follows from them.

    Parameters
    ----------
    evaluation
        The evidence, with the publisher's words.
    released
        The released file, or a folder of parts.
    """
    if not evaluation.holds:
        because = [*evaluation.verdict.sentences]
        return {"certificate": "none: this release must not be published", "because": because}

    published = evaluation.account["published"]
    cost = {name: figure for name, figure in published.items() if name != "cost"}
    words = evaluation.publisher.published
    return {
        "certificate": "of what was assessed before publication; no promise beyond k-anonymity",
        "made": {"by": f"trajanon {trajanon.__version__}", "on": evaluation.date.isoformat()},
        "bases": {str(basis): meaning for basis, meaning in _BASES.items()},
        "release": {"basis": Basis.MEASUREMENT, **_release(evaluation, Path(released))},
        "promise": {
            "basis": Basis.MEASUREMENT,
            "k": evaluation.k,
            "counts": evaluation.counted,
            "conditions": [*evaluation.verdict.sentences],
        },
        "cost": {"basis": Basis.MEASUREMENT, **cost},
        "WP29 Opinion 05/2014": {
            question: [*_answers(evaluation, question)] for question in QUESTIONS
        },
        "whoever holds all other tracks": [*_all_others(evaluation)],
        "ISO/IEC 27559:2022": [*_clauses(evaluation)],
        **({"publisher": {"basis": Basis.WORD, **words}} if words else {}),
        "metadata": metadata(evaluation, Path(released)),
    }


def differences(
    certified: Certified, released: str | os.PathLike[str], findings: Findings
) -> list[Difference]:
    """Compare what a certificate says of the released file with the file itself.

    Parameters
    ----------
    certified
        The certificate, as read from JSON.
    released
        The released file, or a folder of parts.
    findings
        What `trajanon.check` found in it.
    """
    release = certified["release"]
    k = certified["promise"]["k"]
    found = []

    for what, certified_count, count in (
        ("rows", release["rows"], findings.trajectories),
        ("groups", release["groups"], findings.groups),
    ):
        if certified_count != count:
            found.append(Difference(what, f"{certified_count:,}", f"{count:,}"))
    if findings.smallest < k:
        found.append(Difference("rows of the rarest line", f"at least {k}", str(findings.smallest)))

    # Files may have other names than when they were certified.
    before = Counter(release["sha256"].values())
    now = Counter(sha256_of(Path(released)).values())
    if before != now:
        missing, new = (min(hashes, default="none") for hashes in (before - now, now - before))
        found.append(Difference("SHA-256", missing, new))
    return found


def cells_for_flows(path: Path, released: Path) -> CellsForFlows | None:
    """Read from a certificate the cells for flows; None if it is not of the released file."""
    if not path.exists():
        return None
    certified = read_certificate(path)
    if certified["release"]["sha256"] != sha256_of(released):
        return None
    return certified.get("cost", {}).get("flows")


def read_certificate(path: str | os.PathLike[str]) -> Certified:
    """Read a certificate; its k, rows, groups and hashes are there.

    Raises
    ------
    FileProblem
        If the file cannot be read, or is no certificate.
    """
    try:
        return parsed(Path(path).read_bytes(), Certified)
    except OSError as error:
        raise FileProblem(f"{path} cannot be read: {error.strerror}") from error
    except BadInput as error:
        raise FileProblem(
            f"{path} is not a certificate of trajanon: `trajanon evaluate` writes one beside a "
            f"release"
        ) from error


def _release(evaluation: Evaluation, released: Path) -> Facts:
    """Describe the released file."""
    return {
        "sha256": sha256_of(released),
        "unit": evaluation.unit,
        "points": evaluation.points,
        "times": None if evaluation.clock is None else evaluation.clock.sentence,
        "area": list(evaluation.area),
        "groups": len(evaluation.rows),
        "rows": int(evaluation.rows.sum()),
    }


def _answers(evaluation: Evaluation, question: str) -> Iterator[Facts]:
    """Answer one of the three questions of the Article 29 Working Party."""
    attacks = [attack for attack in _attacks(evaluation) if attack.question == question]
    for attack in attacks:
        yield _attack(evaluation, attack)

    if question == "linkability":
        yield from _linked(evaluation)
    elif question == "inference":
        yield from _inferred(evaluation)
    elif not attacks:
        yield {"basis": Basis.NOT_ASSESSED}


def _attacks(evaluation: Evaluation, against: str = "release") -> list[Attack]:
    return [attack for attack in evaluation.attacks if attack.against == against]


def _attack(evaluation: Evaluation, attack: Attack) -> Facts:
    """Write an attack's figures, beside what the originals would reveal."""
    facts: Facts = {
        "basis": Basis.MEASUREMENT,
        "attack": attack.name,
        "knows": attack.knows,
        "mean": _mean(evaluation, attack),
        "highest": round(attack.worst_case, 2),
        "1/k": round(attack.baseline, 2),
    }
    for on_originals in _attacks(evaluation, "originals"):
        if on_originals.name == attack.name:
            facts["in the originals"] = _mean(evaluation, on_originals)
    return facts


def _mean(evaluation: Evaluation, attack: Attack) -> Json:
    return _part(evaluation, attack.expected, len(attack.targets))


def _part(evaluation: Evaluation, share: float, tried: int) -> Json:
    """Round a share that was tried on so many of the trajectories."""
    part = tried / evaluation.measured
    return evaluation.crowd.shares_of(part).number(share)


def _linked(evaluation: Evaluation) -> Iterator[Facts]:
    """Write how many people and drives have lines that leave too few."""
    followed = evaluation.followed
    steps: Facts = {}
    if followed is not None and followed.steps:
        steps = {
            label: _part(evaluation, followed.found[start].first, followed.steps)
            for label, start in (
                ("next line first, if the one before is known", KNOWN),
                ("if its line is known", LINE),
            )
        }
    people = None if followed is None else followed.left["people"]
    yield _few_left("one person, from line to line", "people", people) | steps

    # Trips and days are whole drives.
    if evaluation.unit == "trajectory":
        drives = evaluation.chained.get("drives")
        yield _few_left("pieces of one drive, taken together", "drives", drives)


def _few_left(attack: str, what: str, left: Left | None) -> Facts:
    if left is None:
        return {"basis": Basis.NOT_ASSESSED, "attack": attack}
    below: Json = "none is on two"
    if left.several:
        below = _crowd(left.several).number(left.below / left.several)
    return {
        "basis": Basis.MEASUREMENT,
        "attack": attack,
        f"{what} with fewer than k on all their lines": below,
    }


def _inferred(evaluation: Evaluation) -> Iterator[Facts]:
    shares = evaluation.crowd.shares_of()
    for inferred in evaluation.inferred:
        yield {
            "basis": Basis.MEASUREMENT,
            "attack": inferred.name,
            "knows": inferred.knows,
            "mean": shares.number(inferred.told),
            "best guess without the release": shares.number(inferred.guess),
        }


def _all_others(evaluation: Evaluation) -> Iterator[Facts]:
    """Write what somebody finds who holds all other tracks: tried, and at most."""
    verified = evaluation.verification
    members: Facts = {"basis": Basis.NOT_ASSESSED, "attack": "members of lines"}
    if verified is not None:
        members |= {
            "basis": Basis.MEASUREMENT,
            "lines tried": verified.lines,
            "likeliest people right": _estimate(verified.right, verified.lines),
            "members verified": _estimate(verified.verified, verified.lines),
        }
    yield members

    for attack, guessed in (
        ("hidden member rebuilt", evaluation.rebuilding),
        ("times of a hidden member rebuilt", evaluation.rebuilt_times),
        ("guessed by the person's other trajectories", evaluation.habits),
    ):
        if guessed is None:
            yield {"basis": Basis.NOT_ASSESSED, "attack": attack}
            continue
        yield {
            "basis": Basis.MEASUREMENT,
            "attack": attack,
            "error as a share of the line's": {
                "of medians": _estimate(guessed.share, guessed.targets),
                "of means": _estimate(guessed.mean_share, guessed.targets),
            },
        }

    yield _told_apart(evaluation)


def _told_apart(evaluation: Evaluation) -> Facts:
    """State how well a trajectory is told from the same one moved, whatever else is known."""
    told_apart = evaluation.told_apart
    if told_apart is None:
        return {"basis": Basis.NOT_ASSESSED, "attack": "a trajectory moved to the side"}
    return {
        "basis": Basis.PROOF,
        "public width, metres": evaluation.report.width,
        f"mu, {told_apart.metres:g} m to the side": ceil(100.0 * told_apart.mu) / 100.0,
        "in words": statement(told_apart, evaluation.unit),
    }


def statement(told_apart: ToldApart, unit: str) -> str:
    """Write the statement that docs/proof.md proves."""
    metres = f"{told_apart.metres:g} m"
    cases = ceil(100.0 * told_apart.right)
    return (
        f"Whoever knows every other {unit} tells this {unit} from the same {unit} {metres} to the "
        f"side rightly in at most {cases} of 100 cases, at even odds, in every group."
    )


def _clauses(evaluation: Evaluation) -> Iterator[Facts]:
    """Answer clauses of ISO/IEC 27559:2022, by a number or by the publisher's word."""
    words = evaluation.publisher
    context: Facts = {"recipients": words.recipients, "context": words.context}
    attacks = _attacks(evaluation)
    tried: Facts = {f"{attack.name}: a row": _mean(evaluation, attack) for attack in attacks}
    verified = evaluation.verification
    if verified is not None:
        right = _estimate(verified.right, verified.lines)
        tried["all tracks known: the people of a line"] = right

    modelled: Facts = {}
    risk: Facts = {}
    if attacks:
        modelled["knows"] = {attack.name: attack.knows for attack in attacks}
        best = max(attacks, key=lambda attack: attack.expected)
        risk = {
            "attack": best.name,
            "average": _mean(evaluation, best),
            "maximum of all attacks": max(round(attack.worst_case, 2) for attack in attacks),
            "1/k": round(1.0 / evaluation.k, 2),
        }

    clauses: list[tuple[str, str, Basis, Facts]] = [
        ("6", "context assessment", Basis.WORD, context),
        ("7.3", "attack modelling", Basis.MEASUREMENT, modelled),
        ("7.3.2", "maximum or average risk", Basis.MEASUREMENT, risk),
        ("8.2.3", "adversarial testing", Basis.MEASUREMENT, tried),
        ("9.2", "governance before release", Basis.WORD, {"approved": words.before_release}),
        ("9.4", "governance after release", Basis.WORD, {"reviewed": words.after_release}),
    ]
    for clause, subject, basis, facts in clauses:
        answered = {name: fact for name, fact in facts.items() if fact != ""}
        absent = Basis.BLANK if basis is Basis.WORD else Basis.NOT_ASSESSED
        yield {
            "clause": clause,
            "subject": subject,
            "basis": basis if answered else absent,
            **answered,
        }


def _estimate(estimate: Estimate, tried: int) -> Json:
    """Round a figure and its interval for publication."""
    crowd = _crowd(tried)
    interval: Json = [crowd.bounds(estimate.low)[0], crowd.bounds(estimate.high)[1]]
    return {"value": crowd.number(estimate.value), "90 % interval": interval}


def _crowd(tried: int) -> Crowd:
    """Of how many a share is, at most so many that it is rounded to hundredths."""
    return Crowd(min(tried, HUNDREDTHS), shares=True)


def sha256_of(released: Path) -> dict[str, str]:
    """Compute SHA-256 of the file, or of each part of a folder, by name."""
    files = [released]
    if released.is_dir():
        files = sorted(released.glob("part-*.parquet"))

    hashes = {}
    for file in files:
        with file.open("rb") as stream:
            hashes[file.name] = hashlib.file_digest(stream, "sha256").hexdigest()
    return hashes
