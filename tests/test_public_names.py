import tomllib
from importlib import import_module
from importlib.metadata import version
from pathlib import Path

import pytest

import trajanon

ROOT = Path(__file__).parents[1]

PUBLIC = [
    "Bound",
    "Evaluation",
    "Findings",
    "MicroaggregatedTable",
    "Partition",
    "Release",
    "TableFindings",
    "TrajanonError",
    "Trajectories",
    "anonymize",
    "anonymize_file",
    "anonymize_parts",
    "check",
    "check_table",
    "clean",
    "evaluate",
    "lower_bound",
    "microaggregate",
    "microaggregate_table",
    "read_release",
    "read_trajectories",
    "rewrite",
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


@pytest.mark.parametrize("name", PUBLIC)
def test_a_public_name_is_what_it_says(name: str) -> None:
    """Also after the modules are imported that could stand in its place."""
    for module in (
        "anonymization",
        "microaggregation",
        "privacy.release_check",
        "files",
        "street_counts",
    ):
        import_module(f"trajanon.{module}")
    assert getattr(trajanon, name).__name__ == name
    assert isinstance(getattr(trajanon, name), type) == name[0].isupper()


def test_results_show_what_their_users_need() -> None:
    """The reference lists every public member; the drafts of a command are none."""
    shown = {
        result.__name__: sorted(name for name in dir(result) if not name.startswith("_"))
        for result in (trajanon.Release, trajanon.MicroaggregatedTable)
    }
    assert shown == {
        "Release": [
            *("report", "to_dataframe", "to_geodataframe", "to_movingpandas", "trajectories"),
            *("verdict", "write"),
        ],
        "MicroaggregatedTable": ["report", "table"],
    }


@pytest.mark.parametrize("name", PUBLIC)
def test_no_module_has_the_name_of_a_public_function(name: str) -> None:
    """Importing trajanon.anonymize the module would hide the function."""
    assert not (ROOT / "trajanon" / f"{name}.py").exists()
    assert not (ROOT / "trajanon" / name).exists()


def test_the_version_is_that_of_the_installation() -> None:
    assert trajanon.__version__ == version("trajanon")
    assert "__version__" in dir(trajanon)


def test_an_unknown_name_is_refused() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'anonymise'"):
        trajanon.anonymise  # noqa: B018 -- to look it up is enough


def folders(top: str) -> set[str]:
    """Every package below a top folder, by the name it is imported under."""
    prefix = "" if top == "trajanon" else "trajanon."
    return {
        prefix + ".".join(file.parent.relative_to(ROOT).parts)
        for file in (ROOT / top).rglob("__init__.py")
        if top != "trajanon" or not {"extract", "maps", "data"} & set(file.parts[-3:])
    }


def test_every_folder_of_modules_is_installed_inside_trajanon() -> None:
    packages = installed()["packages"]
    assert isinstance(packages, list)
    assert len(packages) == len(set(packages))
    expected = set().union(*(folders(f) for f in ("trajanon", "extract", "maps", "data")))
    assert set(packages) == expected
    assert {name.partition(".")[0] for name in packages} == {"trajanon"}
    assert installed()["package-dir"] == {
        "trajanon": "trajanon",
        "trajanon.extract": "extract",
        "trajanon.maps": "maps",
        "trajanon.data": "data",
    }


def test_every_folder_with_modules_is_a_package() -> None:
    for top in ("trajanon", "extract", "maps", "data"):
        for file in (ROOT / top).rglob("*.py"):
            script = file.parent == ROOT / "data/generator"  # not installed
            assert script or (file.parent / "__init__.py").exists(), file


def test_every_file_of_the_sample_is_installed_and_nothing_else_of_data() -> None:
    listed = installed()["package-data"]
    assert isinstance(listed, dict)
    there = {f"sample/{file.name}" for file in (ROOT / "data/sample").iterdir()}
    assert set(listed["trajanon.data"]) == there
    assert listed["trajanon"] == ["py.typed"]
    assert listed["trajanon.studio"] == ["bring.html", "page.css"]
    inside = (ROOT / "trajanon/evaluation").iterdir()
    templates = {file.name for file in inside if file.suffix in {".css", ".html", ".md", ".txt"}}
    assert set(listed["trajanon.evaluation"]) == templates
    assert listed["trajanon.extract.earth"] == ["cities.csv"]
    pages = {file.name for file in (ROOT / "maps").glob("*.[cjh][st]*")}
    assert set(listed["trajanon.maps"]) == pages
    assert set(listed) == {
        "trajanon",
        "trajanon.data",
        "trajanon.evaluation",
        "trajanon.extract.earth",
        "trajanon.maps",
        "trajanon.studio",
    }
    assert installed()["include-package-data"] is False


@pytest.mark.parametrize("name", ["extract", "maps", "data"])
def test_the_links_in_the_package_lead_to_the_top_folders(name: str) -> None:
    link = ROOT / "trajanon" / name
    assert link.is_symlink()
    assert link.resolve() == ROOT / name
