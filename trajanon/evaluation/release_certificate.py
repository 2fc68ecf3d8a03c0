"""Certificate of a release: the assessment in publishable, machine-readable figures."""

import hashlib
import os
from collections.abc import Iterable, Mapping
from datetime import date
from math import ceil
from pathlib import Path
from typing import Any, TypedDict

from trajanon.common.errors import BadInput, FileProblem
from trajanon.common.inputs import parsed
from trajanon.common.number_text import UNITS, number_of
from trajanon.evaluation.attacks.attack import QUESTIONS
from trajanon.release.public_figures import Crowd

NOT_ASSESSED = "not assessed"

_HUNDREDTHS = 200
"""Cases of which a share is rounded to hundredths."""

_GUESSED = {
    "hidden member rebuilt": "rebuilding",
    "times of a hidden member rebuilt": "rebuilt_times",
    "guessed by the person's other trajectories": "habits",
}

_Account = Mapping[str, Any]


class _Release(TypedDict):
    rows: int
    groups: int
    sha256: dict[str, str]


class _Promise(TypedDict):
    k: int


class _Certificate(TypedDict):
    """What is repeated of a certificate."""

    release: _Release
    promise: _Promise


_CONTEXT = {
    "dcat": "http://www.w3.org/ns/dcat#",
    "dct": "http://purl.org/dc/terms/",
    "foaf": "http://xmlns.com/foaf/0.1/",
    "locn": "http://www.w3.org/ns/locn#",
    "geosparql": "http://www.opengis.net/ont/geosparql#",
    "xsd": "http://www.w3.org/2001/XMLSchema#",
    "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
    "mobilitydcatap": "https://w3id.org/mobilitydcat-ap#",
}
_MOBILITY = "https://w3id.org/mobilitydcat-ap/"
_EUROPE = "http://publications.europa.eu/resource/authority/"
_FILE_TYPES = {
    ".parquet": "PARQUET",
    ".gpkg": "GPKG",
    ".geojson": "GEOJSON",
    ".csv": "CSV",
    ".gpx": "XML",
    ".mfjson": "JSON",
}


def certificate(account: _Account, released: str | os.PathLike[str], version: str) -> _Account:
    """Certify a release; ready for JSON, and for publication beside it.

    Shares are rounded to hundredths, or more, so that none tells of a single one, and no count
    below k follows from them. What was not measured is marked as not assessed.

    Parameters
    ----------
    account
        `Evaluation.account`.
    released
        The released file, or a folder of parts.
    version
        That of trajanon.
    """
    if account["verdict"]["kind"] == "stop":
        because = account["verdict"]["sentences"]
        return {"certificate": "none: this release must not be published", "because": because}
    made = date.fromisoformat(account["date"])
    k, attacks = account["k"], account["attacks"]
    originals = {one["name"]: one for one in attacks if one["against"] == "originals"}
    found = [_attack(one, originals) for one in attacks if one["against"] == "release"]
    tried = (one for one in attacks if one["against"] == "release")
    best = _attack(max(tried, key=lambda one: one["expected"]), {}) if found else {}
    singling_out, linkability, inference = (
        [one for one in found if one["question"] == question] for question in QUESTIONS
    )
    again = made.replace(year=made.year + 1, day=min(made.day, 28))
    return {
        "certificate": "of what was assessed before publication; no promise beyond k-anonymity",
        "made": {"by": f"trajanon {version}", "on": account["date"]},
        "release": {
            "sha256": _hashes(Path(released)),
            **{name: account[name] for name in ("unit", "points", "times", "area", "groups")},
            "rows": account["rows"]["released"],
        },
        "promise": {
            "k": k,
            "counts": account["counted"],
            "a subject is": "a person, a vehicle or an account: to be named by the publisher",
            "to be said beside it": account["verdict"]["sentences"],
        },
        "cost": {name: value for name, value in account["published"].items() if name != "cost"},
        "WP29 Opinion 05/2014": {
            "singling out": singling_out or NOT_ASSESSED,
            "linkability": [*linkability, *_followed(account)],
            "inference": [*inference, *(_inferred(one, account) for one in account["inferred"])],
            "whoever holds all other tracks": _patient(account) | _told_apart(account),
        },
        "ISO/IEC 27559:2022": {
            "7.3 adversarial testing": [one["attack"] for one in found] or NOT_ASSESSED,
            "8.2 average risk": best["mean"] if found else NOT_ASSESSED,
            "8.2 maximum risk": max((one["highest"] for one in found), default=NOT_ASSESSED),
            "9.3 to be assessed again": {
                "at the latest on": again.isoformat(),
                "and before": "another release of the same subjects",
            },
        },
        "metadata": _metadata(account, Path(released)),
    }


def repeated(certified: _Certificate, released: str | os.PathLike[str], findings: Any) -> list[str]:
    """Repeat what a certificate says of the released file itself; say what differs.

    Parameters
    ----------
    certified
        The certificate, as read from JSON.
    released
        The released file, or a folder of parts.
    findings
        What `trajanon.check` found in it.
    """
    said, k = certified["release"], certified["promise"]["k"]
    found = (
        ("rows", said["rows"], findings.trajectories),
        ("groups", said["groups"], findings.groups),
    )
    problems = [
        f"the certificate says {before:,} {name}, and the file has {there:,}"
        for name, before, there in found
        if before != there
    ]
    if findings.smallest < k:
        rarest = number_of(findings.smallest, "time")
        problems.append(f"the certificate promises k = {k}, and a line occurs {rarest}")
    hashes = _hashes(Path(released))
    if sorted(hashes.values()) != sorted(said["sha256"].values()):
        problems.append(
            f"the certificate is of other bytes: {_names(said['sha256'])} had another SHA-256 than "
            f"{_names(hashes)}"
        )
    return problems


def read_certificate(path: str | os.PathLike[str]) -> _Certificate:
    """Read a certificate; its k, rows, groups and hashes are there.

    Raises
    ------
    FileProblem
        If the file cannot be read, or is no certificate.
    """
    try:
        return parsed(Path(path).read_bytes(), _Certificate)
    except OSError as error:
        raise FileProblem(f"{path} cannot be read: {error.strerror}") from error
    except BadInput as error:
        raise FileProblem(
            f"{path} is no certificate of trajanon: `trajanon evaluate` writes one beside a release"
        ) from error


def _attack(one: _Account, originals: Mapping[str, _Account]) -> dict[str, Any]:
    """Give an attack's figures, beside what the originals would reveal."""
    before = originals.get(one["name"])
    return {
        "attack": one["name"],
        "knows": one["knows"],
        "question": one["question"],
        "mean": _share(one["expected"], one["targets"]),
        "highest": round(one["worst_case"], 2),
        "1/k": round(one["baseline"], 2),
        "in the originals": (
            NOT_ASSESSED if before is None else _share(before["expected"], before["targets"])
        ),
    }


def _followed(account: _Account) -> list[dict[str, Any]]:
    """How many people and drives have lines that leave too few, and how often one is followed."""
    said: list[dict[str, Any]] = []
    kinds = {"persons": ("people", "one person, from line to line")}
    if account["unit"] == "trajectory":  # else each drive is whole
        kinds["chains"] = "drives", "pieces of one drive, taken together"
    for name, (what, attack) in kinds.items():
        found = account[name] or {what: 0, f"{what}_below": 0}
        few: Any = "none is on two" if account[name] else NOT_ASSESSED
        if found[what]:
            few = _share(found[f"{what}_below"] / found[what], found[what])
        said.append({"attack": attack, f"{what} with fewer than k on all their lines": few})
        if found.get("steps"):
            first = {
                start: _share(one["first"], found["steps"])
                for start, one in found["followed"].items()
            }
            said[-1]["next line first, if the one before is known"] = first["known"]
            said[-1]["if its line is known"] = first["line"]
    return said


def _inferred(one: _Account, account: _Account) -> dict[str, Any]:
    return {
        "attack": one["name"],
        "knows": one["knows"],
        "mean": _share(one["told"], account["trajectories"]),
        "best guess without the release": _share(one["guess"], account["trajectories"]),
    }


def _patient(account: _Account) -> dict[str, Any]:
    """How well members of lines are found, and hidden ones rebuilt, with intervals."""
    verified = account["verification"]
    found = {"lines tried": NOT_ASSESSED if verified is None else verified["lines"]}
    for name, figure in (("likeliest people right", "right"), ("members verified", "verified")):
        found[name] = NOT_ASSESSED
        if verified is not None:
            found[name] = _estimate(verified[figure], verified["lines"])
    for name, attack in _GUESSED.items():
        guessed = account[attack]
        found[f"{name}, error as a share of the line's"] = NOT_ASSESSED
        if guessed is not None:
            found[f"{name}, error as a share of the line's"] = {
                "of medians": _estimate(guessed["share"], guessed["targets"]),
                "of means": _estimate(guessed["mean_share"], guessed["targets"]),
            }
    return found


def _estimate(estimate: Mapping[str, float], tried: int) -> dict[str, Any]:
    """Round a figure and its interval for publication."""
    low, high = (_crowd(tried).bounds(estimate[bound]) for bound in ("low", "high"))
    return {"value": _share(estimate["value"], tried), "90 % interval": [low[0], high[1]]}


def _share(share: float, tried: int) -> float | list[float]:
    return _crowd(tried).number(share)


def _crowd(tried: int) -> Crowd:
    """Of how many a share is, at most so many that it is rounded to hundredths."""
    return Crowd(min(tried, _HUNDREDTHS), shares=True)


def _told_apart(account: _Account) -> dict[str, Any]:
    """Say how well a trajectory is told from the same one moved, whatever else is known."""
    found = account["told_apart"]
    if found is None:
        return {"mu": NOT_ASSESSED}
    unit, metres = account["unit"], f"{found['metres']:g} m"
    cases = ceil(100.0 * found["right"])
    return {
        "public width, metres": account["width"],
        f"mu, {metres} to the side": round_up(found["mu"]),
        "in words": f"Whoever knows every other {unit} tells this {unit} from the same {unit} "
        f"{metres} to the side rightly in at most {cases} of 100 cases, at even odds, in every "
        "group.",
    }


def round_up(number: float) -> float:
    """Round to hundredths, never below what was stated."""
    return ceil(100.0 * number) / 100.0


def _metadata(account: _Account, released: Path) -> dict[str, Any]:
    """Describe the release by mobilityDCAT-AP 1.1, as JSON-LD; its publisher completes it."""
    west, south, east, north = account["area"]
    corners = [(west, south), (east, south), (east, north), (west, north), (west, south)]
    ring = ", ".join(f"{x} {y}" for x, y in corners)
    kind = _FILE_TYPES.get(released.suffix.lower(), "PARQUET")
    unit, mean = UNITS[account["unit"]], "plain" if account["width"] is None else "moved"
    rights = {
        "@type": "dct:RightsStatement",
        "dct:type": _id(f"{_MOBILITY}conditions-for-access-and-usage/other"),
        "rdfs:label": account["attribution"] or "to be named by the publisher",
    }
    return {
        "@context": _CONTEXT,
        "@type": "dcat:Dataset",
        "dct:title": _english(f"k-anonymous {unit}, k = {account['k']}"),
        "dct:description": _english(
            f"{account['rows']['released']} rows on {account['groups']} lines, each the {mean} "
            f"mean of the {unit} of at least {account['k']} different {account['counted']}. "
            f"{account['published']['cost']}"
        ),
        "dct:publisher": {"@type": "foaf:Agent", "foaf:name": "to be named by the publisher"},
        "dct:issued": {"@value": account["date"], "@type": "xsd:date"},
        "dct:accrualPeriodicity": _id(f"{_EUROPE}frequency/NEVER"),
        "mobilitydcatap:mobilityTheme": _id(
            f"{_MOBILITY}mobility-theme/historic-travel-and-traffic-data-and-delays"
        ),
        "dct:spatial": {
            "@type": "dct:Location",
            "locn:geometry": {"@value": f"POLYGON(({ring}))", "@type": "geosparql:wktLiteral"},
        },
        "dcat:distribution": {
            "@type": "dcat:Distribution",
            "dcat:accessURL": _id("https://example.org/to-be-named-by-the-publisher"),
            "dct:format": _id(f"{_EUROPE}file-type/{kind}"),
            "dct:rights": rights,
            "mobilitydcatap:mobilityDataStandard": _id(f"{_MOBILITY}mobility-data-standard/other"),
        },
    }


def _id(address: str) -> dict[str, str]:
    return {"@id": address}


def _english(text: str) -> dict[str, str]:
    return {"@value": text, "@language": "en"}


def _hashes(released: Path) -> dict[str, str]:
    """SHA-256 of the file, or of each part of a folder, by name."""
    files: Iterable[Path] = [released]
    if released.is_dir():
        files = sorted(released.glob("part-*.parquet"))
    hashes = {}
    for file in files:
        with file.open("rb") as stream:
            hashes[file.name] = hashlib.file_digest(stream, "sha256").hexdigest()
    return hashes


def _names(hashes: Mapping[str, str]) -> str:
    return " and ".join(list(hashes)[:2]) + (" and others" if len(hashes) > 2 else "")
