"""A seed repeats every bit, on one core or several."""

import hashlib
import os
import subprocess
import sys
from itertools import cycle
from pathlib import Path

import numpy as np
import pytest
from efforts import few_moves
from ways import HOW, is_slow

from trajanon.common.arrays import Floats
from trajanon.grouping.microaggregation import microaggregate

pytestmark = pytest.mark.usefixtures("few_moves")
"""What holds here does not depend on how many."""


def example(p: int, n: int) -> Floats:
    """Rows with ties and duplicates, where the last bit could choose another way."""
    rng = np.random.default_rng(p)
    X = rng.normal(size=(n, p)).round(1)
    X[: n // 10] = X[n // 10 : n // 5]
    return X


def fingerprints() -> str:
    """Every bit of some results."""
    found = []
    for p, how in zip(cycle((2, 60)), HOW, strict=False):
        of_few, of_some = {"mf-tsp"} & {*how.values()}, {"anneal", "v-mdav"} & {*how.values()}
        n = 24 if is_slow(how) or of_few else 60 if of_some else 160
        with few_moves():
            result = microaggregate(
                example(p, n), 4, subjects=np.arange(n) % (n // 4), **how | {"seed": 5}
            )
        found.append(hashlib.sha256(result.labels.tobytes()).hexdigest()[:12])
        found += [result.sse.hex(), str(result.path_length)]
    return " ".join(found)


def in_a_process(threads: int, times: int) -> list[str]:
    """Fingerprints found so many times, in one process of so many threads."""
    name = Path(__file__).stem
    code = f"import {name}\nfor _ in range({times}): print({name}.fingerprints())"
    names = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "NUMBA_NUM_THREADS")
    here = Path(__file__).parent
    folders = [
        str(here),
        str(here.parent / "helpers"),
        *filter(None, [os.environ.get("PYTHONPATH")]),
    ]
    path = {"PYTHONPATH": os.pathsep.join(folders)}
    run = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | dict.fromkeys(names, str(threads)) | path,
        capture_output=True,
        text=True,
        check=True,
    )
    return run.stdout.splitlines()


def test_a_seed_repeats_every_bit_in_one_process_and_on_one_core_or_two() -> None:
    (one_core, again), (two_cores,) = in_a_process(1, times=2), in_a_process(2, times=1)
    assert len(one_core.split()) == 3 * len(HOW)
    assert again.split() == one_core.split()
    assert two_cores.split() == one_core.split()


def test_another_seed_gives_another_path() -> None:
    X = np.random.default_rng(0).normal(size=(200, 3))
    lengths = {microaggregate(X, 3, refine="none", seed=seed).path_length for seed in range(3)}
    assert len(lengths) == 3
