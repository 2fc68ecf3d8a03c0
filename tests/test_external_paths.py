import signal
import subprocess
import sys
import textwrap
from itertools import pairwise, permutations
from pathlib import Path

import naive
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from problems import problem
from test_paths import records_of

from trajanon.arrays import Floats, Ints
from trajanon.errors import BadInput, FileProblem
from trajanon.paths import external
from trajanon.paths.external import concorde, lkh, path_of_tour, read_tour, write_problem
from trajanon.paths.tours import path_length, shortest

seeds = st.integers(0, 10**6)
kinds = st.sampled_from(["normal", "grid", "line", "clusters", "far", "heavy"])

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


def least_length(records: Floats, start: int | None) -> float:
    """Length of the shortest path, by all sets of records and their last ones."""
    n = len(records)
    first = range(n) if start is None else [start]
    reached = {(1 << i, i): 0.0 for i in first}
    for _ in range(n - 1):
        onward: dict[tuple[int, int], float] = {}
        for (met, last), done in reached.items():
            for i in range(n):
                if not met >> i & 1:
                    length = done + naive.distance(records[last], records[i])
                    key = (met | 1 << i, i)
                    onward[key] = min(length, onward.get(key, np.inf))
        reached = onward
    return min(reached.values())


def assert_is_path(path: Ints, n: int, start: int | None) -> None:
    assert path.dtype == np.int64
    assert sorted(path.tolist()) == list(range(n))
    assert start is None or path[0] == start


def parse(file: Path) -> tuple[dict[str, str], list[list[int]]]:
    """The keywords and the rows of a TSPLIB file with a matrix."""
    *lines, end = file.read_text(encoding="ascii").splitlines()
    assert end == "EOF"
    section = lines.index("EDGE_WEIGHT_SECTION")
    keywords = dict(line.split(": ") for line in lines[:section])
    return keywords, [[int(x) for x in row.split()] for row in lines[section + 1 :]]


def problem_of(
    records: Floats, start: int | None, folder: Path
) -> tuple[dict[str, str], list[list[int]]]:
    write_problem(folder / "p.tsp", records, start)
    return parse(folder / "p.tsp")


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the solvers work: nothing may stay there."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    return folder


@pytest.fixture
def no_concorde(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "concorde", None)
    monkeypatch.setenv("PATH", "")


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
    monkeypatch.delitem(sys.modules, "concorde", raising=False)
    monkeypatch.delitem(sys.modules, "concorde.tsp", raising=False)
    monkeypatch.syspath_prepend(package.parent)
    monkeypatch.setenv("PYTHONPATH", str(package.parent))
    monkeypatch.setenv("PATH", "")


# The problem


@given(kind=kinds, seed=seeds, n=st.integers(2, 30))
def test_the_problem_is_the_distances_and_a_dummy_at_none(
    tmp_path: Path, kind: str, seed: int, n: int
) -> None:
    records = records_of(kind, seed, n)
    records[0] += 1.0  # not all equal
    keywords, rows = problem_of(records, None, tmp_path)
    assert keywords == {
        "NAME": "path",
        "TYPE": "TSP",
        "DIMENSION": str(n + 1),
        "EDGE_WEIGHT_TYPE": "EXPLICIT",
        "EDGE_WEIGHT_FORMAT": "FULL_MATRIX",
    }
    matrix = np.array(rows)
    assert matrix.shape == (n + 1, n + 1)
    assert np.array_equal(matrix, matrix.T)
    assert not matrix[0].any()
    assert not matrix.diagonal().any()
    exact = np.array([[naive.distance(a, b) for b in records] for a in records])
    scale = 2 * max(exact[0]) / ((2**31 - 1) // (n + 1) - 1)
    assert np.abs(matrix[1:, 1:] * scale - exact).max() <= 0.5001 * scale


@given(kind=kinds, seed=seeds, n=st.integers(2, 30))
def test_no_sum_along_a_tour_leaves_32_bits(tmp_path: Path, kind: str, seed: int, n: int) -> None:
    records = records_of(kind, seed, n)
    records[0] += 1.0
    _, rows = problem_of(records, 0, tmp_path)
    longest = max(map(max, rows))
    assert longest * (n + 1) < 2**31
    assert max(map(max, rows[1:])) * (n + 1) > 2**28  # nor is much precision lost


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("start", [0, 3, 5])
def test_the_shortest_tour_leads_from_the_dummy_to_the_start(
    tmp_path: Path, seed: int, start: int
) -> None:
    records = records_of(["normal", "heavy", "grid"][seed % 3], seed, 6)
    _, rows = problem_of(records, start, tmp_path)
    tours = [(0, *order) for order in permutations(range(1, 7))]
    lengths = [sum(rows[a][b] for a, b in zip(tour, (*tour[1:], 0), strict=True)) for tour in tours]
    for tour, length in zip(tours, lengths, strict=True):
        if length == min(lengths):
            assert start + 1 in (tour[1], tour[-1])
            path = path_of_tour(np.array(tour), records, start)
            assert path[0] == start
            assert path_length(records, path) == pytest.approx(
                least_length(records, start), rel=1e-6
            )


# The solution


@pytest.mark.parametrize(
    "text", ["4\n0 2 1 3\n", "4\n0 2 \n1 3 \n", "4 0 2\n1\n3", " 4\r\n0 2 1 3\r\n"]
)
def test_a_tour_may_stand_on_several_lines(tmp_path: Path, text: str) -> None:
    (tmp_path / "s").write_text(text)
    tour = read_tour(tmp_path / "s", 4)
    assert tour is not None
    assert tour.tolist() == [0, 2, 1, 3]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "4\n",
        "4\n0 2 1\n",
        "4\n0 2 1 3 0\n",
        "4\n0 2 1 1\n",
        "4\n1 2 3 4\n",
        "3\n0 2 1 3\n",
        "5\n0 2 1 3 4\n",
        "4\n0 2 1 three\n",
        "4\n0 2 1 3.0\n",
        "4\n0 2 -1 3\n",
        "vier\n0 2 1 3\n",
        "4\n0 2 1 3 é\n",
    ],
)
def test_what_is_no_tour_of_all_cities_is_none(tmp_path: Path, text: str) -> None:
    (tmp_path / "s").write_text(text, encoding="utf-8")
    assert read_tour(tmp_path / "s", 4) is None
    assert read_tour(tmp_path / "absent", 4) is None


@given(seed=seeds, n=st.integers(1, 12))
def test_a_tour_is_cut_at_the_dummy(seed: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    tour, records = rng.permutation(n + 1), rng.normal(size=(n, 2))
    path = path_of_tour(tour, records, None)
    assert_is_path(path, n, None)
    links = {frozenset(pair) for pair in zip(tour, np.roll(tour, 1), strict=True)}
    for a, b in pairwise(path.tolist()):
        assert {a + 1, b + 1} in links


@given(seed=seeds, n=st.integers(1, 12))
def test_a_tour_past_the_start_is_mended_by_one_jump(seed: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    tour, records = rng.permutation(n + 1), rng.normal(size=(n, 2))
    start = int(rng.integers(n))
    whole = path_of_tour(tour, records, None)
    path = path_of_tour(tour, records, start)
    assert_is_path(path, n, start)
    jump = naive.distance(records[whole[0]], records[whole[-1]])
    assert path_length(records, path) <= path_length(records, whole) + jump + 1e-9
    if start in (whole[0], whole[-1]):
        assert path_length(records, path) <= path_length(records, whole) + 1e-9


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 6, 7, 8])
@pytest.mark.parametrize("start", [None, "first", "last"])
@pytest.mark.parametrize("kind", ["normal", "grid", "far", "heavy"])
def test_a_handful_of_records_get_their_shortest_path(n: int, start: str | None, kind: str) -> None:
    records = records_of(kind, n, n)
    first = {None: None, "first": 0, "last": n - 1}[start]
    path = shortest(records, first)
    assert_is_path(path, n, first)
    expected = least_length(records, first)
    assert path_length(records, path) == pytest.approx(expected, abs=1e-8)


# Concorde


def test_without_concorde_it_is_said_what_to_install(no_concorde: None) -> None:
    with pytest.raises(
        BadInput,
        match=r"^Concorde is not installed; install pyconcorde from \S+, put the "
        r"program concorde on the PATH, or choose the heuristic or-opt$",
    ):
        concorde(problem(records_of("normal", 0, 10)))


def test_a_folder_named_concorde_is_not_pyconcorde(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "concorde" / "TSP").mkdir(parents=True)  # the sources of the program
    monkeypatch.delitem(sys.modules, "concorde", raising=False)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("PATH", "")
    with pytest.raises(BadInput, match="not installed"):
        concorde(problem(records_of("normal", 0, 10)))


@pytest.mark.parametrize("n", [1, 2, 5, 8, 9, 12, 40])
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
    if begins:  # nearest neighbours from the least number are all numbers in order
        assert (np.diff(records[path, 0]) >= 0).all()
    assert list(temporary.iterdir()) == []
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("n", range(1, 9))
def test_concorde_is_not_asked_for_a_handful(
    n: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install_program("sys.exit(1)", tmp_path, monkeypatch)
    assert_is_path(concorde(problem(records_of("normal", 0, n)), n - 1), n, n - 1)


def test_the_seed_reaches_concorde(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = tmp_path / "seeds"
    note = f"    print(seed, file=open({str(log)!r}, 'a'))\n"
    install_program(PROGRAM + note, tmp_path, monkeypatch)
    records = records_of("normal", 0, 10)
    for seed in (1, 1, 2):
        concorde(problem(records, seed=seed))
    first, again, other = map(int, log.read_text().split())
    assert first == again != other
    assert 0 < first < 2**31


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("sys.exit('edge too long')", "said 'edge too long'"),
        ("print('one'); print('two'); print(); sys.exit(1)", "said 'two'"),
        ("sys.exit(1)", "said nothing"),
        ("pass", "said nothing"),
        ("print('Bye')", "said 'Bye'"),
        ("Path(sys.argv[4]).write_text('no numbers')", "said nothing"),
        ("Path(sys.argv[4]).write_text('9 ' + '0 ' * 9)", "said nothing"),
        ("Path(sys.argv[4]).write_bytes(b'\\xff')", "said nothing"),
        (PROGRAM + "    Path(solution).write_text('10 0 1 2')", "said nothing"),
        (PROGRAM + "    sys.exit(255)", "said nothing"),
        (
            "import time; print('OVERFLOW', flush=True);"
            "print('FATAL ERROR - received signal SIGABRT (6/6)', file=sys.stderr,"
            " flush=True); time.sleep(3600)",
            r"said 'FATAL ERROR - received signal SIGABRT \(6/6\)'",
        ),
        ("sys.stdout.buffer.write(b'\\xff\\n')", "said '\ufffd'"),
    ],
)
def test_where_concorde_finds_no_tour_its_last_line_is_told(
    code: str, words: str, tmp_path: Path, temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install_program(code, tmp_path, monkeypatch)
    with pytest.raises(
        BadInput,
        match=rf"^Concorde {words} and found no tour; choose the heuristic or-opt, or "
        r"repair Concorde$",
    ):
        concorde(problem(records_of("normal", 0, 9)))
    assert list(temporary.iterdir()) == []


def test_a_pyconcorde_without_a_tour_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install_pyconcorde(PYCONCORDE.replace("FOUND", "False"), tmp_path, monkeypatch)
    with pytest.raises(BadInput, match="said 'no tour was found' and found no tour"):
        concorde(problem(records_of("normal", 0, 9)))


def test_a_pyconcorde_that_cannot_be_loaded_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install_pyconcorde("    raise ImportError('no QSopt')", tmp_path, monkeypatch)
    with pytest.raises(BadInput, match="said 'ImportError: no QSopt'"):
        concorde(problem(records_of("normal", 0, 9)))


def test_a_program_that_cannot_be_started_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install_program("", tmp_path, monkeypatch)
    (tmp_path / "bin" / "concorde").write_text("#!/nowhere/at/all\n")
    with pytest.raises(BadInput, match=r"^Concorde said 'No such file or directory'"):
        concorde(problem(records_of("normal", 0, 9)))


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
        "from trajanon.paths.external import concorde\n"
        "from trajanon.problem import Problem\n"
        "random = np.random.default_rng(0)\n"
        "records = random.normal(size=(9, 2))\n"
        "concorde(Problem(records=records, k=3, subjects=np.arange(9), random=random))\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", code],
        env={
            "PATH": str(tmp_path),
            "TMPDIR": str(temporary),
            "PYTHONPATH": str(Path(__file__).parents[1]),
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


# LKH


def test_without_elkai_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "elkai", None)
    with pytest.raises(
        BadInput,
        match=r"^LKH is not installed; run pip install 'trajanon\[lkh\]' or choose the "
        r"heuristic or-opt$",
    ):
        lkh(problem(records_of("normal", 0, 10)))


@pytest.fixture
def elkai() -> None:
    pytest.importorskip("elkai", reason="LKH comes with the extra lkh")


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 7, 8, 9, 10])
@pytest.mark.parametrize("kind", ["normal", "grid", "line", "clusters", "far", "heavy"])
@pytest.mark.parametrize("begins", [False, True])
@pytest.mark.usefixtures("elkai")
def test_lkh_finds_the_shortest_path(n: int, kind: str, begins: bool, temporary: Path) -> None:
    records = records_of(kind, n, n)
    start = n // 2 if begins else None
    path = lkh(problem(records), start)
    assert_is_path(path, n, start)
    expected = least_length(records, start)
    assert path_length(records, path) == pytest.approx(expected, rel=1e-6)
    assert list(temporary.iterdir()) == []


@pytest.mark.parametrize("n", [1, 2, 3, 8, 9, 30])
@pytest.mark.parametrize("start", [None, 0, -1])
@pytest.mark.usefixtures("elkai")
def test_equal_records_get_a_path(n: int, start: int | None) -> None:
    begin = None if start is None else start % n
    assert_is_path(lkh(problem(np.full((n, 2), 0.7)), begin), n, begin)


@pytest.mark.usefixtures("elkai")
def test_all_but_one_equal_records_get_the_shortest_path() -> None:
    records = np.full((30, 2), 0.7)
    records[11] += 2.0
    assert path_length(records, lkh(problem(records))) == pytest.approx(8**0.5)
    assert path_length(records, lkh(problem(records), 11)) == pytest.approx(8**0.5)


@pytest.mark.usefixtures("elkai")
def test_a_seed_repeats_the_path_of_lkh(capfd: pytest.CaptureFixture[str]) -> None:
    records = records_of("grid", 5, 60)  # of many shortest paths
    paths = [lkh(problem(records, seed=seed)).tolist() for seed in (1, 1, 2, 3)]
    assert paths[0] == paths[1]
    assert len({tuple(path) for path in paths}) > 1
    assert capfd.readouterr() == ("", "")


@pytest.mark.usefixtures("elkai")
def test_a_straight_line_is_walked_once() -> None:
    numbers = np.random.default_rng(0).permutation(100).astype(float)[:, None]
    assert path_length(numbers, lkh(problem(numbers))) == 99.0


# Both


def test_too_many_records_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install_program(PROGRAM, tmp_path, monkeypatch)
    records = np.zeros((20_001, 1))
    with pytest.raises(
        BadInput,
        match=r"^20001 records are too many for Concorde; give at most 20000 or choose or-opt$",
    ):
        concorde(problem(records))
    assert len(concorde(problem(records[1:]))) == 20_000


def test_a_full_disk_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    install_program(PROGRAM, tmp_path, monkeypatch)
    monkeypatch.setattr(external, "write_problem", full)
    with pytest.raises(
        FileProblem,
        match=r"^cannot write for Concorde: No space left on device; set TMPDIR to a folder with "
        r"more room$",
    ):
        concorde(problem(records_of("normal", 0, 9)))


def test_no_temporary_folder_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install_program(PROGRAM, tmp_path, monkeypatch)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "absent"))
    with pytest.raises(FileProblem, match="No such file or directory; set TMPDIR"):
        concorde(problem(records_of("normal", 0, 9)))
