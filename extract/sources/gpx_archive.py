"""Archives of GPX files, of which OpenStreetMap's planet dump is one.

Its metadata.xml names accounts of public, identifiable files.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from trajanon.common.errors import FileProblem
from trajanon.extract.sources.archives import CutOff, members
from trajanon.extract.sources.gpx import GpxDocument, traces_of
from trajanon.extract.sources.reading import Reading
from trajanon.extract.sources.xml_documents import growing_tree
from trajanon.extract.trace import Trace

NOT_GPX = "members that are not GPX"

CUT_OFF_FILES = "archives cut off"

BEFORE_ACCOUNTS = "recordings before the accounts of their dump"

_NAMES_OF_GPX = (".gpx", ".gpx.gz", ".gpx.bz2", ".gpx.xz")

_NAMES_IN_DUMP = re.compile(r"(?:.*/)?(public|trackable|identifiable)/(?:\d+/)*(\d{1,18})\.gpx")

_NUMBER = re.compile(r"[0-9]{1,18}")


def read(path: Path, reading: Reading) -> Iterator[Trace]:
    """Read the GPX files of an archive, those of a planet dump with their accounts as subjects."""
    accounts: dict[int, str] | None = None  # by upload; None before metadata.xml
    any_read = False
    nameless = 0  # recordings of a dump that came before its accounts
    problem = ""  # why nothing can be read
    try:
        for name, open_member in members(reading.open(path), path):
            kind = _kind_of(name)
            if not kind or open_member is None:  # a link or a device cannot be opened
                reading.counts[NOT_GPX] += 1
                continue

            points_used = 0  # of this member
            try:
                if kind == "metadata":
                    accounts = {} if accounts is None else accounts
                    _read_accounts(open_member().read, f"{path}/{name}", accounts)
                    continue

                upload = name
                subject = None
                if in_dump := _NAMES_IN_DUMP.fullmatch(name):
                    upload = str(int(in_dump[2]))
                    if in_dump[1] != "trackable":  # of these no account is ever known
                        nameless += accounts is None
                        subject = (accounts or {}).get(int(upload))

                document = GpxDocument(open_member().read1, f"{path}/{name}")
                label = f"{reading.label}/{upload}"
                of_member = replace(reading, what=label, label=label)
                for trace in traces_of(document, of_member, subject):
                    any_read = True
                    points_used += len(trace)
                    yield trace
                any_read = True
            except FileProblem as error:
                problem = problem or f"no GPX file in {path} can be read: {error}"
                reading.leave_out(error, points_used, "members")
    except CutOff as error:
        problem = f"{path} is damaged or cut off ({error}): download it again"
        if any_read:
            reading.found(CUT_OFF_FILES, 1, problem=problem)

    if not any_read:
        kinds = ", ".join(_NAMES_OF_GPX)
        nothing = f"{path} holds no {kinds} file: unpack others, and name the folder"
        raise FileProblem(problem or nothing)
    reading.found(BEFORE_ACCOUNTS, nameless)


def _kind_of(name: str) -> str:
    """Name the kind of a member; as in folders, hidden ones are left out: they have none."""
    file_name = name.rpartition("/")[2]
    if file_name == "metadata.xml":
        return "metadata"
    is_gpx = file_name.lower().endswith(_NAMES_OF_GPX) and not file_name.startswith(".")
    return "gpx" if is_gpx else ""


def _read_accounts(read: Callable[[int], bytes], name: str, accounts: dict[int, str]) -> None:
    """Fill in the account of each upload of a dump, up to what ends the reading."""
    for root in growing_tree(read, name):
        for element in root:
            upload = element.get("id", "")
            account = element.get("uid", "")
            if _NUMBER.fullmatch(upload) and _NUMBER.fullmatch(account):
                accounts[int(upload)] = f"osm:uid:{int(account)}"
        del root[:-1]
