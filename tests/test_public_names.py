import ast
import tomllib
from importlib.metadata import version
from pathlib import Path

import pytest

import trajanon

ROOT = Path(__file__).parents[1]

PUBLIC = [
    "AveragesUnclear",
    "BadInput",
    "Bound",
    "ColumnsUnclear",
    "Evaluation",
    "FileProblem",
    "Findings",
    "GuessedWarning",
    "LeftOutWarning",
    "MergedWarning",
    "MicroaggregatedTable",
    "NoTrajectories",
    "Partition",
    "Progress",
    "Publisher",
    "Release",
    "ReleasedTrajectories",
    "ServerProblem",
    "TableFindings",
    "TooFewRecords",
    "TooFewSubjects",
    "TrajanonError",
    "TrajanonWarning",
    "Trajectories",
    "UnknownOption",
    "anonymize",
    "anonymize_file",
    "anonymize_parts",
    "cell_counts",
    "check",
    "check_table",
    "evaluate",
    "lower_bound",
    "microaggregate",
    "microaggregate_table",
    "read_release",
    "read_trajectories",
    "streets",
    "write_trajectories",
    "zone_flows",
]


def installed() -> dict[str, object]:
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    settings: dict[str, object] = tomllib.loads(text)["tool"]["setuptools"]
    return settings


def test_the_public_names_are_these() -> None:
    assert trajanon.__all__ == PUBLIC
    assert set(PUBLIC) <= set(dir(trajanon))


def test_a_public_name_is_what_it_says() -> None:
    """No module has its name, which would hide it once it is imported."""
    for name in PUBLIC:
        assert getattr(trajanon, name).__name__ == name
        assert isinstance(getattr(trajanon, name), type) == name[0].isupper()
        assert not (ROOT / "trajanon" / f"{name}.py").exists()
        assert not (ROOT / "trajanon" / name).exists()


def test_results_show_what_their_users_need() -> None:
    """The reference lists every public member; the drafts of a command are none."""
    shown = {
        result.__name__: sorted(
            name
            for name in {*dir(result), *getattr(result, "__dataclass_fields__", ())}
            if not name.startswith("_")
        )
        for result in (trajanon.Release, trajanon.MicroaggregatedTable)
    }
    assert shown == {
        "Release": [
            *("report", "to_dataframe", "to_geodataframe", "trajectories"),
            *("verdict", "write"),
        ],
        "MicroaggregatedTable": ["report", "table"],
    }


def test_the_version_is_that_of_the_installation() -> None:
    assert trajanon.__version__ == version("trajanon")
    assert "__version__" in dir(trajanon)


def test_an_unknown_name_is_refused() -> None:
    with pytest.raises(AttributeError, match="anonymise"):
        trajanon.anonymise  # type: ignore[attr-defined]  # noqa: B018 -- to look it up is enough


def folders(top: str) -> set[str]:
    """Every package below a top folder, by the name it is imported under."""
    prefix = "" if top == "trajanon" else "trajanon."
    return {
        prefix + ".".join(file.parent.relative_to(ROOT).parts)
        for file in (ROOT / top).rglob("__init__.py")
        if top != "trajanon"
        or not {"extract", "maps", "data"} & set(file.relative_to(ROOT).parts[-3:])
    }


def test_every_folder_of_modules_is_installed_inside_trajanon() -> None:
    packages = installed()["packages"]
    assert isinstance(packages, list)
    assert len(packages) == len(set(packages))
    expected = set().union(*(folders(f) for f in ("trajanon", "extract", "maps", "data")))
    assert set(packages) == expected
    links = {f"trajanon.{name}": name for name in ("extract", "maps", "data")}
    assert installed()["package-dir"] == {"trajanon": "trajanon", **links}
    for name, folder in links.items():
        assert (ROOT / name.replace(".", "/")).resolve() == ROOT / folder


def test_every_folder_with_modules_is_a_package() -> None:
    for top in ("trajanon", "extract", "maps", "data"):
        for file in (ROOT / top).rglob("*.py"):
            script = file.parent == ROOT / "data/generator"  # not installed
            assert script or (file.parent / "__init__.py").exists(), file


def test_every_file_of_the_sample_is_installed_and_nothing_else_of_data() -> None:
    listed = installed()["package-data"]
    assert isinstance(listed, dict)
    there = {f"sample/{file.name}" for file in (ROOT / "data/sample").iterdir()}
    assert set(listed.pop("trajanon.data")) == there
    assert listed.pop("trajanon") == ["__init__.pyi", "py.typed"]
    for package, names in listed.items():
        inside = (ROOT / package.removeprefix("trajanon.").replace(".", "/")).resolve()
        if not inside.exists():
            inside = ROOT / package.replace(".", "/")
        kinds = {
            ".css",
            ".csv",
            ".html",
            ".js",
            ".json",
            ".md",
            ".mplstyle",
            ".pyi",
            ".toml",
            ".txt",
        }
        assert set(names) == {one.name for one in inside.iterdir() if one.suffix in kinds}
    assert len(listed) == 11
    assert installed()["include-package-data"] is False


def test_no_piece_of_a_sentence_is_lost_on_a_line_of_its_own() -> None:
    """A text that is not joined to the one above it, as in brackets, is dropped in silence."""
    lost = []
    for top in ("trajanon", "extract", "maps"):
        for file in (ROOT / top).rglob("*.py"):
            text = file.read_text("utf-8")
            lines = text.splitlines()
            for node in ast.walk(ast.parse(text)):
                if isinstance(node, ast.Expr) and isinstance(
                    node.value, ast.Constant | ast.JoinedStr
                ):
                    begins = lines[node.lineno - 1][node.col_offset :]
                    if not begins.startswith(('"""', 'r"""', "...")):
                        lost.append(f"{file.relative_to(ROOT)}:{node.lineno}")
    assert lost == []
