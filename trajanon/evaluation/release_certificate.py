"""Certificate of a release, with its metadata for portals, and the holder's record of processing.

The certificate is the assessment in publishable, machine-readable figures.
"""

import hashlib
import json
import os
from collections import Counter
from functools import partial
from math import ceil
from pathlib import Path
from typing import Literal, NamedTuple, NotRequired, TypedDict

import trajanon
from trajanon.common.errors import BadInput, FileProblem
from trajanon.common.json_toml_and_regular_files import Json, parsed
from trajanon.common.number_text import two_digits
from trajanon.evaluation.evidence import NOTICE, Basis, Evaluation
from trajanon.evaluation.intervals import Estimate
from trajanon.evaluation.page.templates import rendered, words
from trajanon.evaluation.publisher_and_licence import OSM_LICENCE, Publisher
from trajanon.files.release_formats import release_parts
from trajanon.release.people_left import few_left
from trajanon.release.public_figures import HUNDREDTHS, Crowd, rough_count
from trajanon.release.release_check import Findings
from trajanon.release.release_words import cost, left_out
from trajanon.release.verdict_sentences import sentence_of
from trajanon.trajectories.trajectories import OSM_ATTRIBUTION

_FILE_TYPES = {".gpx": "XML", ".mfjson": "JSON"}
"""File types that portals do not name by the ending."""


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
        reasons = [*evaluation.verdict.sentences]
        return {"certificate": "none: this release must not be published", "because": reasons}

    text = rendered(
        "certificate.json",
        evaluation=evaluation,
        version=trajanon.__version__,
        bases=Basis,
        published=evaluation.published,
        sha256=sha256_of(Path(released)),
        metadata=metadata(evaluation, Path(released)),
        # All of them: the verdict itself shows three.
        conditions=[*dict.fromkeys(map(sentence_of, evaluation.verdict.findings))],
        estimate=_rounded_estimate,
        share=lambda share, tried: _crowd(tried).number(share),
        part=partial(_rounded_share, evaluation),
        rounded_up=lambda number: ceil(100.0 * number) / 100.0,  # never below what was stated
        statement=partial(words, "statement"),
    )
    certified: dict[str, Json] = json.loads(text)
    return certified


def metadata(evaluation: Evaluation, released: Path) -> dict[str, Json]:
    """Describe a release by mobilityDCAT-AP 1.1, as JSON-LD for mobility data portals.

    What only its publisher knows is absent unless the publisher said it. Of the mandatory
    properties these are ``dct:publisher``, ``dcat:accessURL`` and, of data that are not of
    OpenStreetMap, ``dct:rights``.
    """
    publisher = evaluation.publisher
    rights = publisher.licence
    if evaluation.report.attribution == OSM_ATTRIBUTION:
        rights = OSM_ATTRIBUTION
        publisher = Publisher(licence=OSM_LICENCE)

    ending = released.suffix.lower()
    text = rendered(
        "mobility_metadata.json",
        evaluation=evaluation,
        cost=cost(evaluation.report, evaluation.crowd),
        file_type="PARQUET" if released.is_dir() else _FILE_TYPES.get(ending, ending[1:].upper()),
        licence=publisher.licence_address,
        rights=rights,
    )
    described: dict[str, Json] = json.loads(text)
    return described


def processing_record(evaluation: Evaluation) -> str:
    """Write the record of processing as a page of HTML, which prints on A4.

    It holds the facts that Articles 30 and 35 of the GDPR ask for, as far as the evaluation and the
    publisher's words give them, and marked blanks for all others. It is the holder's.
    """
    return rendered(
        "processing_record.html",
        notice=NOTICE,
        evaluation=evaluation,
        version=trajanon.__version__,
        bases=Basis,
        source=left_out(evaluation.report),
        cost=cost(evaluation.report),
        rough_count=rough_count,
        two_digits=two_digits,
        few_left=few_left,
        statement=partial(words, "statement"),
    )


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
    listed = []
    for what, certified_count, count in (
        ("rows", release["rows"], findings.trajectories),
        ("groups", release["groups"], findings.groups),
    ):
        if certified_count != count:
            listed.append(Difference(what, f"{certified_count:,}", f"{count:,}"))
    if findings.smallest < k:
        at_least = f"at least {k}"
        listed.append(Difference("rows of the rarest line", at_least, str(findings.smallest)))

    before, now = _hashes_before_and_now(certified, Path(released))
    if before != now:
        # Of the hashes that only one of both has, one stands for all.
        missing, new = (min(hashes, default="none") for hashes in (before - now, now - before))
        listed.append(Difference("SHA-256", missing, new))
    return listed


def _hashes_before_and_now(
    certified: Certified, released: Path
) -> tuple[Counter[str], Counter[str]]:
    """Count the hashes in a certificate, and those of the files now, which may have other names."""
    return Counter(certified["release"]["sha256"].values()), Counter(sha256_of(released).values())


def cells_for_flows(path: Path, released: Path) -> CellsForFlows | None:
    """Read from a certificate the cells for flows; None if it is not of the released file."""
    if not path.exists():
        return None
    certified = read_certificate(path)
    before, now = _hashes_before_and_now(certified, released)
    if before != now:
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
            f"release that may be published"
        ) from error


def _rounded_share(evaluation: Evaluation, share: float, tried: int) -> Json:
    """Round a share of the trajectories of which so many were tried."""
    part_tried = tried / evaluation.measured
    return evaluation.crowd.shares_of(part_tried).number(share)


def _rounded_estimate(estimate: Estimate, tried: float) -> Json:
    """Round a figure and its interval for publication."""
    crowd = _crowd(tried)
    interval: Json = [crowd.bounds(estimate.low)[0], crowd.bounds(estimate.high)[1]]
    return {"value": crowd.number(estimate.value), "90 % interval": interval}


def _crowd(tried: float) -> Crowd:
    """Return the crowd of a share of so many cases; hundredths are the finest that it leaves."""
    return Crowd(min(tried, HUNDREDTHS), shares=True)


def sha256_of(released: Path) -> dict[str, str]:
    """Compute SHA-256 of the file, or of each part of a folder, by name."""
    hashes = {}
    for file in release_parts(released) if released.is_dir() else [released]:
        with file.open("rb") as stream:
            hashes[file.name] = hashlib.file_digest(stream, "sha256").hexdigest()
    return hashes
