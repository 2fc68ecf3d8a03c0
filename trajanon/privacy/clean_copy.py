"""A clean copy of a released file: its lines, and nothing else that the file holds."""

import os
from pathlib import Path

import numpy as np

from trajanon.errors import BadInput
from trajanon.files.release import check_release_format, read_as_found, write_release
from trajanon.files.release_lines import DIGITS, known_attribution, line_numbers, rounded
from trajanon.outputs import replacing
from trajanon.partition import check_k
from trajanon.privacy.findings import Findings, not_trajectories, too_rare
from trajanon.privacy.release_check import check
from trajanon.settings import ReleaseSettings
from trajanon.trajectories import Trajectories


def rewrite(
    release: str | os.PathLike[str], clean: str | os.PathLike[str], k: int, *, digits: int = DIGITS
) -> Findings:
    """Write the lines of a released file into a new one, and nothing else of it.

    They are rounded, shuffled with the operating system's randomness and numbered from 1; the
    attribution to OpenStreetMap goes with them.

    Parameters
    ----------
    release
        A file in any format of a release, whatever else is in it.
    clean
        The new file, in the format of its suffix. What is there is replaced.
    k
        The group size promised, at least 2.
    digits
        Decimals of a degree in the new file, 4 to 7.

    Returns
    -------
    Findings
        What `trajanon.check` says of the new file. If a line occurs fewer than k times or is no
        trajectory, ``problems`` say so, and nothing is written.

    Raises
    ------
    BadInput
        If a suffix is not that of a format, or the two files are one.
    FileProblem
        If one cannot be read, or the other not be written.
    """
    check_k(k)
    ReleaseSettings(digits=digits)
    release, clean = Path(release), Path(clean)
    check_release_format(clean)
    if release.is_dir():
        msg = f"{release} is a release in parts: run trajanon anonymize again"
        raise BadInput(msg)
    found = read_as_found(release)
    if clean.exists() and clean.samefile(release):
        msg = f"{clean} is the file that is checked: name a new one"
        raise BadInput(msg)
    if amiss := not_trajectories(found):
        return Findings(k, len(found), 0, 0, amiss)
    points = rounded(found.places[:, :, ::-1], digits)
    sizes = np.bincount(line_numbers(points))
    if rare := too_rare(sizes, k):
        return Findings(k, len(points), len(sizes), int(sizes.min()), rare)
    order = np.argsort(np.frombuffer(os.urandom(8 * len(points)), dtype=np.uint64))
    said = {"attribution": known_attribution(found.attribution)}
    with replacing(clean, public=[clean]) as (draft,):
        write_release(draft, Trajectories(points[order], provenance=said))
    return check(clean, k, digits=digits)
