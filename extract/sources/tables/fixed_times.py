"""Times that are all written with the same digits -> seconds, a column at once.

In blocks of a file this takes half the time of Arrow's strptime with the checks that it lacks:
it allows blanks and fewer digits, and takes 30 February for 2 March.
"""

import re

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from trajanon.arrays import Floats, Ints

_WIDTH = {"%Y": 4, "%m": 2, "%d": 2, "%H": 2, "%M": 2, "%S": 2}


def read_fixed(texts: pa.Array, written: str) -> Floats:
    """Read the texts that are written in a format to the letter."""
    seconds = np.full(len(texts), np.nan)
    steps = re.findall(r"%.|.", written.replace("%z", "Z"))
    if not {"%Y", "%m", "%d"} <= {step for step in steps if step in _WIDTH} or any(
        len(step) == 2 and step not in _WIDTH for step in steps
    ):
        return seconds
    width = sum(_WIDTH.get(step, 1) for step in steps)
    fits = pc.fill_null(pc.equal(pc.binary_length(texts), width), False)
    which = fits.to_numpy(zero_copy_only=False)
    letters = _letters(texts if which.all() else pc.filter(texts, fits), width)
    right = np.ones(len(letters), bool)
    part = {step: np.zeros(len(letters), np.int64) for step in _WIDTH}
    place = 0
    for step in steps:
        if step not in _WIDTH:
            right &= letters[:, place] == ord(step)
            place += 1
            continue
        for _ in range(_WIDTH[step]):
            digit = letters[:, place] - np.uint8(ord("0"))  # wraps below zero
            right &= digit <= 9
            part[step] = part[step] * 10 + digit
            place += 1
    seconds[which] = np.where(right, _since_1970(part), np.nan)
    return seconds


def _letters(texts: pa.Array, width: int) -> NDArray[np.uint8]:
    """View texts of one width as rows of letters."""
    _, offsets, letters = texts.buffers()
    if len(texts) == 0:
        return np.empty((0, width), np.uint8)
    start = np.frombuffer(offsets, np.int32)[texts.offset]
    flat = np.frombuffer(letters, np.uint8)[start : start + len(texts) * width]
    return flat.reshape(-1, width)


def _since_1970(part: dict[str, Ints]) -> Floats:
    month_starts = (part["%Y"] - 1970) * 12 + part["%m"] - 1
    month = month_starts.astype("datetime64[M]")
    day = month.astype("datetime64[D]") + (part["%d"] - 1)
    possible = (
        (part["%m"] >= 1)
        & (part["%m"] <= 12)
        & (day.astype("datetime64[M]") == month)
        & (part["%H"] < 24)
        & (part["%M"] < 60)
        & (part["%S"] < 60)
    )
    of_day = part["%H"] * 3600 + part["%M"] * 60 + part["%S"]
    seconds = day.astype(np.int64) * 86_400 + of_day
    return np.where(possible, seconds, np.nan)
