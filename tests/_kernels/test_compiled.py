"""Kernels are compiled once, and kept; in processes, folders and caches of their own."""

import os
import pickle
import shutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from trajanon._kernels.compiled import OVERRIDDEN, Kernel, compile_beside, forget_older
from trajanon._kernels.two_opt_or_opt_lin_kernighan import shorten
from trajanon.files.trajectory_files import write_trajectories
from trajanon.trajectories.trajectories import Trajectories

ROOT = Path(__file__).parents[2]


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A folder with a copy of the package, where no compiled kernel can be kept."""
    ignore = shutil.ignore_patterns("__pycache__", "sample")
    shutil.copytree(ROOT / "trajanon", tmp_path / "trajanon", ignore=ignore)
    (tmp_path / "trajanon" / "_kernels" / "__pycache__").touch()  # no folder, for root
    rng = np.random.default_rng(0)
    points = rng.normal(40.0, 0.01, (20, 4, 2))
    subject = np.arange(20) % 9
    write_trajectories(
        tmp_path / "trajectories.parquet", Trajectories(points, subject, np.arange(20))
    )
    return tmp_path


def anonymize(folder: Path, **environment: str) -> str:
    """Run the command there, with no home; what it says on standard error.

    The way with the fewest kernels: they are compiled here each time.
    """
    way = ["--method", "md", "--refine", "none"]
    kept = {k: v for k, v in os.environ.items() if not k.startswith("NUMBA_")}
    run = subprocess.run(
        [sys.executable, "-m", "trajanon", "anonymize", "-k", "3", *way],
        cwd=folder,
        env={
            **kept,
            "HOME": "/dev/null",
            "XDG_CACHE_HOME": "/dev/null",
            "PYTHONPATH": str(folder),
            **environment,
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    assert (folder / "anonymized.parquet").exists()
    return run.stderr


def test_without_a_place_for_kernels_they_are_compiled_and_that_is_said(package: Path) -> None:
    said = anonymize(package)
    assert said.count("compiling") == 1
    assert "no cache folder can be written (set NUMBA_CACHE_DIR" in said
    assert (package / "trajanon" / "_kernels" / "__pycache__").is_file()


def test_kernels_are_compiled_once_and_kept_where_numba_is_told(package: Path) -> None:
    cache = {"NUMBA_CACHE_DIR": str(package / "cache")}
    said = anonymize(package, **cache)
    assert said.count("compiling for the first run") == 1
    assert list((package / "cache").rglob("*.nbc"))
    assert "compiling" not in anonymize(package, **cache)


def test_kernels_of_other_sources_are_compiled_again(tmp_path: Path) -> None:
    """A kernel holds those that it calls, of which numba does not know."""
    kept = tmp_path / "tour.improve-1.py311.1.nbc"
    forget_older(str(tmp_path))
    kept.touch()
    forget_older.cache_clear()
    forget_older(str(tmp_path))
    assert kept.exists(), "the sources are the same"
    (tmp_path / "sources.sha256").write_text("of others")
    other = tmp_path / "numbers.txt"
    other.touch()
    forget_older.cache_clear()
    forget_older(str(tmp_path))
    assert not kept.exists()
    assert other.exists()


def test_a_folder_that_cannot_be_written_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    forget_older(str(tmp_path / "file" / "folder"))
    assert (tmp_path / "file").is_file()


def test_a_kernel_goes_to_a_worker_by_its_name() -> None:
    assert pickle.loads(pickle.dumps(shorten)) is shorten


@pytest.fixture
def sum_of_two(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Kernel:
    """A kernel of a new module, which is compiled nowhere; ``sums`` compiles it for floats."""
    (tmp_path / "kernels_of_test.py").write_text(
        "from trajanon._kernels.compiled import bare\n\n\n"
        "@bare\ndef sum_of_two(a, b):\n    return a + b\n"
    )
    (tmp_path / "sums.py").write_text(
        "from kernels_of_test import sum_of_two\n\nsum_of_two(1.0, 2.0)\n"
    )
    (tmp_path / "fails.py").write_text("raise SystemExit(1)\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.delitem(sys.modules, "kernels_of_test", raising=False)
    kernel: Kernel = import_module("kernels_of_test").sum_of_two
    return kernel


def test_who_calls_a_kernel_waits_for_the_process_that_compiles_it(sum_of_two: Kernel) -> None:
    assert not sum_of_two.is_kept
    compile_beside("sums", sum_of_two)

    assert sum_of_two(3.0, 4.0) == 7.0
    assert sum_of_two.is_kept
    statistics = sum_of_two._outer.stats
    assert sum(statistics.cache_hits.values()) == 1
    assert not statistics.cache_misses


def test_kernels_that_are_kept_start_no_process(sum_of_two: Kernel) -> None:
    sum_of_two(3.0, 4.0)
    compile_beside("sums", sum_of_two)
    assert sum_of_two._compiler is None


def test_a_kernel_that_the_process_did_not_compile_is_compiled_here(sum_of_two: Kernel) -> None:
    compile_beside("fails", sum_of_two)
    assert sum_of_two(3.0, 4.0) == 7.0


def test_numba_still_has_what_compiling_once_overrides() -> None:
    """Without them all is right, but the first run takes a third longer."""
    from numba.core.codegen import JITCodeLibrary

    assert [name for name in OVERRIDDEN if not hasattr(JITCodeLibrary, name)] == []
