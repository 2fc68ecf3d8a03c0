"""Paths of Concorde: a program or a package of others, faked here."""

import signal
import subprocess
import sys
import textwrap
from collections.abc import Mapping
from itertools import chain
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from commands import Run
from drawn_paths import records_of
from naive_paths import assert_is_path, least_length
from problems import problem
from toy import crowd

from trajanon.common.errors import BadInput
from trajanon.common.progress import silent
from trajanon.common.search_and_release_options import RefinementName
from trajanon.files.trajectory_files import write_trajectories
from trajanon.grouping.methods import hm2_and_compression
from trajanon.grouping.microaggregation import microaggregate
from trajanon.grouping.partition import Partition
from trajanon.grouping.paths.external_solvers import concorde, concorde_command
from trajanon.grouping.paths.travelling_salesman import path_length
from trajanon.tables.papers.datasets import Dataset
from trajanon.tables.papers.tables_measured_again import compression_table

pytestmark = pytest.mark.usefixtures("temporary")

# What a fake solver does with a problem: read it, and visit the nearest city left.
NEAREST = """
    import sys
    from pathlib import Path

    def matrix(problem):
        text = Path(problem).read_text()
        rows = text.partition("EDGE_WEIGHT_SECTION\\n")[2].splitlines()[:-1]
        return [[int(word) for word in row.split()] for row in rows]

    def nearest_tour(problem):
        between = matrix(problem)
        tour, left = [0], set(range(1, len(between)))
        while left:
            tour.append(min(left, key=lambda city: (between[tour[-1]][city], city)))
            left.remove(tour[-1])
        return tour
"""

# The program: concorde -s seed -o solution problem, and the litter it leaves.
PROGRAM = """
    flag_s, seed, flag_o, solution, problem = sys.argv[1:]
    assert (flag_s, flag_o) == ("-s", "-o"), sys.argv
    tour = nearest_tour(problem)
    Path("problem.mas").write_text("litter")
    lines = [" ".join(map(str, tour[i : i + 10])) for i in range(0, len(tour), 10)]
    Path(solution).write_text("\\n".join([str(len(tour)), *lines]) + "\\n")
"""

PYCONCORDE = """
    from typing import NamedTuple

    class Tour(NamedTuple):
        tour: list
        found_tour: bool

    class TSPSolver:
        @classmethod
        def from_tspfile(cls, problem):
            print("Problem Name: path")
            solver = cls()
            solver.problem = problem
            return solver

        def solve(self, verbose, random_seed):
            assert not verbose
            assert 0 < random_seed < 2**31
            Path("abc.res").write_text("litter")
            return Tour(nearest_tour(self.problem), FOUND)
"""


def install_program(code: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Put a concorde on the PATH, alone there."""
    program = folder / "bin" / "concorde"
    program.parent.mkdir()
    program.write_text(f"#!{sys.executable}\n" + textwrap.dedent(NEAREST) + textwrap.dedent(code))
    program.chmod(0o755)
    monkeypatch.setitem(sys.modules, "concorde", None)
    monkeypatch.setenv("PATH", str(program.parent))


def install_pyconcorde(code: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = folder / "site" / "concorde"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "tsp.py").write_text(textwrap.dedent(NEAREST) + textwrap.dedent(code))
    for name in ("concorde", "concorde.tsp"):  # set first, so that it is gone after the test
        monkeypatch.setitem(sys.modules, name, None)
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.syspath_prepend(package.parent)
    monkeypatch.setenv("PYTHONPATH", str(package.parent))
    monkeypatch.setenv("PATH", "")


@pytest.mark.parametrize("named_so", [False, True])
def test_without_concorde_it_is_said_what_to_install(
    named_so: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder named concorde is not pyconcorde."""
    monkeypatch.setitem(sys.modules, "concorde", None)
    monkeypatch.setenv("PATH", "")
    if named_so:
        (tmp_path / "concorde" / "TSP").mkdir(parents=True)  # the sources of the program
        monkeypatch.delitem(sys.modules, "concorde")
        monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(BadInput, match=r"^Concorde is not installed; .* or choose the heuristic"):
        concorde(problem(records_of("normal", 0, 10)), None)


@pytest.mark.parametrize(("most", "by"), [(24, "concorde"), (23, "or-opt")])
def test_tables_are_measured_with_concorde_where_it_is_found(
    most: int, by: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Any table, trajectories as well; on large ones it may take hours."""
    install_program(PROGRAM, tmp_path, monkeypatch)
    monkeypatch.setattr(hm2_and_compression, "CONCORDE_CITIES", most)
    dataset = Dataset("mine", records_of("normal", 0, 24))
    measured = chain.from_iterable(compression_table(dataset, 1, silent))
    found = {m.by for m in measured if m.method in ("C-MHM", "C2-C-MHM")}
    assert found == {by, f"{by}, row, forward", f"{by}, row, backward"}


def path_of(partition: Partition) -> Mapping[str, str | float]:
    """What the search chose for the path."""
    return next(stage.chosen for stage in partition.stages if stage.name == "path")


@pytest.mark.parametrize("refine", ["none", "rcs", "anneal"])
def test_hm2_as_published_takes_concorde_where_it_is_found(
    refine: RefinementName, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Our own search starts from our path, so that a seed repeats it everywhere."""
    records = records_of("normal", 0, 40)
    monkeypatch.setattr("shutil.which", lambda _: None)
    without = microaggregate(records, 3, refine=refine)
    assert path_of(without) == {"heuristic": "or-opt"}
    monkeypatch.undo()
    install_program(PROGRAM, tmp_path, monkeypatch)
    found = microaggregate(records, 3, refine=refine)
    if refine == "anneal":
        assert np.array_equal(found.labels, without.labels)
        assert path_of(found) == {"heuristic": "or-opt"}
        return
    assert path_of(found) == {"heuristic": "concorde"}
    named = microaggregate(records, 3, heuristic="concorde", refine=refine)
    assert np.array_equal(found.labels, named.labels)
    assert named.path_length != without.path_length
    other = microaggregate(records, 3, heuristic="or-opt", refine=refine)
    assert np.array_equal(other.labels, without.labels)


def test_commands_say_which_path_was_taken(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_trajectories(Path("trajectories.parquet"), crowd())
    pd.DataFrame(records_of("normal", 0, 30)).to_csv("table.csv", header=["a", "b"], index=False)
    asked = ("anonymize", "-k", 3, "--as-published")
    alone = ("microaggregate", "table.csv", "-k", 3, "--refine", "none")
    monkeypatch.setattr("shutil.which", lambda _: None)
    assert "Path: or-opt." in run(*asked).out
    assert "path, heuristic or-opt" in run(*alone).out
    monkeypatch.undo()
    monkeypatch.chdir(tmp_path)
    install_program(PROGRAM, tmp_path, monkeypatch)
    assert "Path: concorde." in run(*asked).out
    assert "path, heuristic concorde" in run(*alone).out
    assert "Path: npn." in run(*asked, "--method", "hm2:npn:c=2").out
    assert run(*asked, "--method", "hm2:c=two").code == 2
    assert "for --as-published" in run("anonymize", "-k", 3, "--method", "hm2:npn").sentence


@pytest.mark.parametrize("n", [2, 10, 40])
@pytest.mark.parametrize("way", ["program", "package"])
@pytest.mark.parametrize("begins", [False, True])
def test_concorde_is_asked_and_nothing_stays(
    n: int,
    way: str,
    begins: bool,
    tmp_path: Path,
    temporary: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    if way == "program":
        install_program(PROGRAM, tmp_path, monkeypatch)
    else:
        install_pyconcorde(PYCONCORDE.replace("FOUND", "True"), tmp_path, monkeypatch)
    monkeypatch.chdir(temporary)
    records = records_of("line", n, n)
    start = int(records.argmin()) if begins else None
    path = concorde(problem(records), start)
    assert_is_path(path, n, start)
    assert list(temporary.iterdir()) == []
    assert capfd.readouterr() == ("", "")


@pytest.mark.skipif(concorde_command() is None, reason="Concorde is not installed")
@pytest.mark.parametrize("n", [9, 12])
def test_the_real_concorde_finds_the_shortest_path(n: int) -> None:
    records = records_of("normal", n, n)
    found = path_length(records, concorde(problem(records), None))
    assert found == pytest.approx(least_length(records), rel=1e-6)


def test_the_seed_reaches_concorde(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = tmp_path / "seeds"
    note = f"    print(seed, file=open({str(log)!r}, 'a'))\n"
    install_program(PROGRAM + note, tmp_path, monkeypatch)
    records = records_of("normal", 0, 10)
    for seed in (1, 1, 2):
        concorde(problem(records, seed=seed), None)
    first, again, other = map(int, log.read_text().split())
    assert first == again != other
    assert 0 < first < 2**31


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("sys.exit('edge too long')", "edge too long"),
        ("print('one'); print('two'); print(); sys.exit(1)", "two"),
        ("pass", ""),
        (PROGRAM + "    Path(solution).write_text('10 0 1 2')", ""),
        (PROGRAM + "    sys.exit(255)", ""),
        (
            "import time; print('OVERFLOW', flush=True);"
            "print('FATAL ERROR - received signal SIGABRT (6/6)', file=sys.stderr,"
            " flush=True); time.sleep(3600)",
            r"FATAL ERROR - received signal SIGABRT \(6/6\)",
        ),
        ("sys.stdout.buffer.write(b'\\xff\\n')", "\ufffd"),
    ],
)
def test_where_concorde_finds_no_tour_its_last_line_is_told(
    code: str, words: str, tmp_path: Path, temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install_program(code, tmp_path, monkeypatch)
    with pytest.raises(BadInput, match=rf"^Concorde found no tour, and said '{words}'; choose"):
        concorde(problem(records_of("normal", 0, 9)), None)
    assert list(temporary.iterdir()) == []


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (PYCONCORDE.replace("FOUND", "False"), "no tour was found"),
        ("    raise ImportError('no QSopt')", "ImportError: no QSopt"),
    ],
)
def test_a_pyconcorde_without_a_tour_says_why(
    code: str, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install_pyconcorde(code, tmp_path, monkeypatch)
    with pytest.raises(BadInput, match=words):
        concorde(problem(records_of("normal", 0, 9)), None)


def test_a_program_that_cannot_be_started_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install_program("", tmp_path, monkeypatch)
    (tmp_path / "bin" / "concorde").write_text("#!/nowhere/at/all\n")
    with pytest.raises(BadInput, match="No such file or directory"):
        concorde(problem(records_of("normal", 0, 9)), None)


def test_ctrl_c_ends_concorde_and_removes_its_files(tmp_path: Path, temporary: Path) -> None:
    """In a process of its own; the signal comes from the program itself."""
    program = tmp_path / "concorde"
    program.write_text(
        f"#!{sys.executable}\n"
        "import os, signal, time\n"
        f"open({str(tmp_path / 'pid')!r}, 'w').write(str(os.getpid()))\n"
        "os.kill(os.getppid(), signal.SIGINT)\n"
        "time.sleep(3600)\n"
    )
    program.chmod(0o755)
    code = (
        "import sys; sys.modules['concorde'] = None\n"
        "import numpy as np\n"
        "from trajanon.grouping.paths.external_solvers import concorde\n"
        "from trajanon.grouping.problem import Problem\n"
        "random = np.random.default_rng(0)\n"
        "records = random.normal(size=(9, 2))\n"
        "concorde(Problem(records=records, k=3, subjects=np.arange(9), random=random))\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", code],
        env={
            "PATH": str(tmp_path),
            "TMPDIR": str(temporary),
            "PYTHONPATH": str(Path(__file__).parents[2] / "helpers"),
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == -signal.SIGINT
    assert "KeyboardInterrupt" in run.stderr
    assert list(temporary.iterdir()) == []
    # The system has forgotten a process that was ended and waited for.
    assert not Path("/proc", (tmp_path / "pid").read_text(), "status").exists()


def test_too_many_records_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install_program(PROGRAM, tmp_path, monkeypatch)
    with pytest.raises(BadInput, match=r"^20001 records are too many for Concorde; give at most"):
        concorde(problem(np.zeros((20_001, 1))), None)
