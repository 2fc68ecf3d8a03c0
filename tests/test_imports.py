"""The floors of the house: imports go down, never up."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).parents[1]


def floors(folder: str) -> list[set[str]]:
    """The floors of a folder as CONTRIBUTING.md tells them, from the ground up."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    table = text.partition(f"| floor of `{folder}/`")[2].partition("\n\n")[0]
    return [set(re.findall(r"`(.+?)`", row.split("|")[1])) for row in table.splitlines()[:1:-1]]


FLOORS = floors("trajanon")  # a module imports from its own floor or below
EXTRACTION = floors("extract")
BESIDE = ("extract", "maps", "data")
TOP = {"cli", "studio", "__main__", "anonymization"}  # rooms that reach extraction and maps
HEAVY = {
    *("branca", "folium", "geopandas", "highspy", "llvmlite", "matplotlib", "numba", "numpy"),
    *("osmium", "pandas", "pyarrow", "pyogrio", "pyproj", "requests", "scipy", "shapely"),
    "urllib3",
}


@cache
def imports(file: Path) -> list[str]:
    """What a file imports, in full: trajanon.files.release_formats, numpy.typing, ..."""
    return list(imported(file))


def imported(file: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file} imports relatively"
            module = node.module or ""
            if module == "trajanon":
                yield from (f"trajanon.{alias.name}" for alias in node.names)
            else:
                yield module


def files(top: str) -> list[Path]:
    found = sorted((ROOT / top).rglob("*.py"))
    if top == "trajanon":
        links = [ROOT / top / name for name in BESIDE]
        found = [f for f in found if not any(f.is_relative_to(link) for link in links)]
    return found


def part(module: str) -> str:
    """The part of the package a module belongs to; empty if to another package."""
    package, _, rest = module.partition(".")
    return rest.partition(".")[0] if package == "trajanon" else ""


def part_of(file: Path) -> str:
    return file.relative_to(ROOT / "trajanon").parts[0].removesuffix(".py")


def floor(name: str) -> int:
    return next(number for number, names in enumerate(FLOORS) if name in names)


CORE = [file for file in files("trajanon") if part_of(file) != "__init__"]


def test_every_part_has_its_floor() -> None:
    assert {part_of(file) for file in CORE} == set().union(*FLOORS)


def part_of_extraction(module: str) -> str:
    """A file or folder, for a source with the folder above."""
    parts = module.split(".") if module else ["__init__"]
    return "/".join(parts[: 1 + (parts[0] == "sources")])


def test_no_import_of_extraction_goes_up() -> None:
    def floor(module: str) -> int:
        name = part_of_extraction(module)
        return next(n for n, names in enumerate(EXTRACTION) if name in names)

    for file in files("extract"):
        own = ".".join(file.relative_to(ROOT / "extract").with_suffix("").parts)
        for module in imports(file):
            inside = module.removeprefix("trajanon.extract.")
            if inside not in (module, "sources") and own != "sources.__init__":
                assert floor(inside) <= floor(own), (file, module)


def module_of(file: Path, top: str) -> str:
    """A file by the name it is imported by."""
    parts = file.relative_to(ROOT / top).with_suffix("").parts
    name = ".".join(("trajanon", *(() if top == "trajanon" else (top,)), *parts))
    return name.removesuffix(".__init__")


def test_no_modules_import_each_other_in_a_circle() -> None:
    """Not even for types: who reads one would have to read the other first."""
    found = {module_of(file, top): file for top in ("trajanon", *BESIDE) for file in files(top)}
    del found["trajanon"]  # it loads names when they are first used
    names = {
        module: {name for name in imports(file) if name in found} for module, file in found.items()
    }
    TopologicalSorter(names).prepare()  # raises CycleError, which names the circle


def rooms() -> dict[str, set[str]]:
    """What each room imports: top modules and folders, with those beside."""
    arrows: dict[str, set[str]] = {}
    for top in ("trajanon", *BESIDE):
        for file in files(top):
            room = part_of(file) if top == "trajanon" else top
            others = {part(module) for module in imports(file)} - {"", room}
            arrows.setdefault(room, set()).update(others)
    del arrows["__init__"]  # it loads names when they are first used
    return arrows


def test_no_rooms_import_each_other_in_a_circle() -> None:
    TopologicalSorter(rooms()).prepare()  # raises CycleError, which names the circle


def test_no_module_is_imported_by_its_name_but_where_names_are_first_used() -> None:
    """An import that the tests above do not see."""
    calls = {
        file.relative_to(ROOT).as_posix()
        for top in ("trajanon", *BESIDE)
        for file in files(top)
        if "import_module(" in file.read_text(encoding="utf-8")
    }
    asked_for = {"trajanon/common/threads_and_dask.py"}  # whether another library is there
    assert calls - asked_for == {"trajanon/__init__.py"}


def test_no_import_goes_up() -> None:
    """And only the top floor reaches extraction, maps and sample."""
    for file in CORE:
        for module in imports(file):
            if part(module) and part(module) not in BESIDE:
                assert floor(part(module)) <= floor(part_of(file)), (file, module)
            if part_of(file) not in TOP:
                other = module.partition(".")[0]
                assert part(module) not in BESIDE, (file, module)
                assert other not in {"typer", "rich", "folium", "branca", "osmium"}, file


def test_figures_alone_need_matplotlib() -> None:
    """It is an extra: nothing else may ask for it."""
    asking = {
        file.parent.relative_to(ROOT)
        for top in ("trajanon", *BESIDE)
        for file in files(top)
        if any(module.partition(".")[0] == "matplotlib" for module in imports(file))
    }
    assert asking == {Path("maps/figures")}


def test_kernels_know_numpy_and_the_compiler_alone() -> None:
    allowed = {"numpy", "numba", "llvmlite"} | sys.stdlib_module_names
    for file in files("trajanon/_kernels"):
        for module in imports(file):
            known = part(module) == "_kernels" or module.partition(".")[0] in allowed
            assert known, (file, module)


def test_extraction_maps_and_sample_do_not_know_each_other() -> None:
    for top in BESIDE:
        for file in files(top):
            for module in imports(file):
                strangers = {*BESIDE, *TOP} - {top}
                assert part(module) not in strangers, (file, module)
                assert module.partition(".")[0] not in BESIDE, (file, module)


def test_the_package_itself_imports_nothing_but_when_asked() -> None:
    tree = ast.parse((ROOT / "trajanon/__init__.py").read_text(encoding="utf-8"))
    now = [node.module for node in tree.body if isinstance(node, ast.ImportFrom)]
    assert set(now) <= {"importlib", "typing", "lazy_loader"}


def test_importing_the_package_loads_no_library() -> None:
    code = "import sys, trajanon; print(*{name.partition('.')[0] for name in sys.modules})"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not HEAVY & set(run.stdout.split())


def loaded(folder: Path, *arguments: object) -> set[str]:
    """The packages that a command loads."""
    words = [sys.executable, "-X", "importtime", "-m", "trajanon", *map(str, arguments)]
    run = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=True)
    return {line.rpartition("|")[2].strip().partition(".")[0] for line in run.stderr.splitlines()}


def test_help_loads_no_library(tmp_path: Path) -> None:
    found = loaded(tmp_path, "--help")
    assert "typer" in found
    assert not HEAVY & found


def test_extracting_gpx_loads_no_library_of_roads_servers_or_kernels(tmp_path: Path) -> None:
    page = ROOT / "data/sample/page000.gpx.gz"
    found = loaded(tmp_path, "extract", page, "--windows", "--spacing", 50)
    assert found & HEAVY == {"numpy", "pandas", "pyarrow", "shapely"}


def test_benchmarks_find_what_they_import() -> None:
    names = [path.stem for path in (ROOT / "benchmarks").glob("*.py")]
    code = f"import importlib\nfor name in {names}: importlib.import_module(name)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT / "benchmarks", check=False)
    assert names
    assert done.returncode == 0
