"""Each module has its tests at the mirrored place: tests/<folder>/test_<module>.py."""

from pathlib import Path

_ROOT = Path(__file__).parent.parent

_TESTED_WITH = {
    "trajanon/_kernels/likely_members.py": "evaluation/attacks/test_verification_with_all_tracks",
    "trajanon/_kernels/optimal_cut_of_path.py": "grouping/paths/test_optimal_cut",
    "trajanon/_kernels/rebuilt_ways.py": "evaluation/attacks/test_rebuilding_from_all_other_tracks",
    "trajanon/_kernels/road_matching.py": "release/test_matched_to_roads",
    "trajanon/common/effort_of_the_search.py": "common/test_search_and_release_options",
    "trajanon/evaluation/comparison_page.py": "cli/test_evaluate_side_by_side",
}
"""Modules whose tests stand with those of another: a few lines without a branch, and kernels that
one module calls, in whose tests they are compared with plain code."""


def _modules() -> list[str]:
    """List the modules of the package by their paths, without what links lead to."""
    folders = [_ROOT / name for name in ("trajanon", "extract", "maps", "data")]
    links = [path for path in folders[0].iterdir() if path.is_symlink()]
    paths = [path for folder in folders for path in folder.rglob("*.py")]
    own = [path for path in paths if not any(path.is_relative_to(link) for link in links)]
    return sorted(path.relative_to(_ROOT).as_posix() for path in own if path.stem != "__init__")


def _mirrored(module: str) -> Path:
    """Return where a reader looks for the tests of a module."""
    path = Path(module)
    folder = path.parent.relative_to("trajanon") if path.parts[0] == "trajanon" else path.parent
    return _ROOT / "tests" / folder / f"test_{path.stem}.py"


def test_modules_have_their_tests_where_they_are_looked_for() -> None:
    modules = _modules()
    assert len(modules) > 200
    assert [
        module
        for module in modules
        if module not in _TESTED_WITH and not _mirrored(module).is_file()
    ] == []


def test_modules_tested_with_others_are_there_and_so_are_their_tests() -> None:
    for module, tests in _TESTED_WITH.items():
        assert (_ROOT / module).is_file(), module
        assert not _mirrored(module).is_file(), module
        assert (_ROOT / "tests" / f"{tests}.py").is_file(), tests
