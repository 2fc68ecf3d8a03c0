"""The docs site: built without network, every link and every public name in it."""

import fcntl
import re
import subprocess
import sys
from collections.abc import Iterator
from html import unescape
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

import nbformat
import pytest
from browsing import needs_chromium

import trajanon
from trajanon.__main__ import app

if TYPE_CHECKING:
    from playwright.sync_api import Browser

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"

# mkdocs, where any way out ends in an error.
ALONE = """
import socket, sys
def refuse(*_, **__):
    raise OSError("the site asked the network for something")
socket.socket.connect = socket.getaddrinfo = refuse
from mkdocs.__main__ import cli
sys.exit(cli())
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    """Built once: of several workers, the first builds it and the others wait."""
    base = tmp_path_factory.getbasetemp()
    folder = (base if worker_id == "master" else base.parent) / "site"
    with folder.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if folder.exists():
            return folder
        built = subprocess.run(
            [sys.executable, "-c", ALONE, "build", "--strict", "--site-dir", folder],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
        )
        assert built.returncode == 0, built.stderr
    return folder


def test_every_page_is_there(site: Path) -> None:
    pages = {path.relative_to(DOCS).with_suffix(".html") for path in DOCS.rglob("*.md")}
    assert all((site / page).exists() for page in pages)
    assert len(pages) > 10
    assert not list(site.rglob("*.py"))


def test_a_reader_asks_nobody_else(site: Path) -> None:
    for page in site.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        loaded = re.findall(r"<(?:script|img|iframe|source)[^>]+src=[\"']?([^\"' >]+)", text)
        loaded += re.findall(r"<link[^>]+href=[\"']?([^\"' >]+)", text)
        away = [each for each in loaded if re.match(r"(https?:)?//", each)]
        assert away == [], page
        assert "api.github.com" not in text
        assert 'data-md-component="source"' not in text, "it asks GitHub for stars"
    for sheet in site.rglob("*.css"):
        text = sheet.read_text(encoding="utf-8")
        assert re.findall(r"(?:url\(|@import)[\"' ]*(https?:)?//", text) == [], sheet


def kinds_of(error: type) -> set[type]:
    """An error and all that come from it."""
    kinds: list[type] = error.__subclasses__()
    return {error}.union(*map(kinds_of, kinds))


@pytest.mark.parametrize(
    ("module", "page"),
    [
        ("trajanon", "trajanon"),
        ("trajanon.extract", "extract"),
        ("trajanon.maps", "maps"),
        ("trajanon.maps.figures", "figures"),
    ],
)
def test_every_public_name_is_in_the_reference(site: Path, module: str, page: str) -> None:
    """A module of the same name must not stand in a function's place."""
    text = (site / "reference" / f"{page}.html").read_text(encoding="utf-8")
    documented = re.findall(r'<h2 id="([\w.]+)" class="doc doc-heading">', text)
    # A function is found in its module, where the module has its name.
    own = rf"({module}\.(\w+))\.\2"
    documented = [re.sub(own, r"\1", name) for name in documented]
    public = import_module(module)
    # Errors and warnings have a page of their own; names are loaded when they are first used.
    assert all(getattr(public, name) for name in public.__all__)
    trees = (trajanon.TrajanonError, trajanon.TrajanonWarning)
    names = set(public.__all__) - {kind.__name__ for tree in trees for kind in kinds_of(tree)}
    assert sorted(documented) == sorted(f"{module}.{name}" for name in names)
    assert "doc-symbol-module" not in text


def test_docstrings_are_read_as_numpydoc_with_all_parameters(site: Path) -> None:
    text = (site / "reference" / "trajanon.html").read_text(encoding="utf-8")
    assert "Parameters:" in text
    assert "Raises:" in text
    assert "----------" not in text
    text = (site / "reference" / "extract.html").read_text(encoding="utf-8")
    shown = text.partition('id="trajanon.extract.extract"')[2].partition("<h2")[0]
    words = re.sub("<[^>]+>", "", shown)
    assert "_called" not in words
    assert ") -&gt; Trajectories" in words
    assert "max_speed" in text.partition('id="trajanon.extract.Rules"')[2].partition("<h2")[0]


def test_the_tutorial_is_a_page_with_results_and_a_notebook(site: Path) -> None:
    text = (site / "tutorial.html").read_text(encoding="utf-8")
    assert "From a folder of GPX to a published release" in text
    assert 'href="tutorial.ipynb"' in text
    notebook = (DOCS / "tutorial.ipynb").read_bytes()
    assert (site / "tutorial.ipynb").read_bytes() == notebook
    stored = [one for one in nbformat.reads(notebook, 4).cells if one.cell_type == "code"]
    assert all((one.outputs, one.execution_count) == ([], None) for one in stored)
    # Seven cells of code, four of them with a text; nothing is printed beside.
    assert text.count('<div class="highlight">') == 7 + 4
    assert "Ready to publish" in text
    (name,) = re.findall('<iframe src="(.+?)"', text)
    page = (site / name).read_text(encoding="utf-8")
    assert "originals and release" in page
    assert "Content-Security-Policy" in page
    assert "'anonymized.datasheet.md', 'anonymized.parquet', 'map.html'" in unescape(text)


@needs_chromium
def test_the_site_can_be_searched_from_disk(site: Path, browser: "Browser") -> None:
    page = browser.new_page(viewport={"width": 1200, "height": 800})
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto((site / "reference/errors.html").as_uri())
    page.click("input[name=query]")
    page.keyboard.type("displacement")
    found = page.locator(".md-search-result__item a").first
    found.wait_for(timeout=20_000)
    link = found.get_attribute("href")
    assert link is not None
    assert link.startswith(site.as_uri())
    assert all(url.startswith(("file:", "data:")) for url in asked)
    page.goto((site / "tutorial.html").as_uri())
    page.locator("iframe[title]").scroll_into_view_if_needed()
    panel = page.frame_locator("iframe[title]").locator("#trajanon h1")
    panel.wait_for(timeout=20_000)
    assert panel.inner_text() == "trajanon · k = 4 people"
    page.close()


def test_every_command_says_what_it_does(site: Path) -> None:
    text = (site / "reference" / "commands.html").read_text(encoding="utf-8")
    told = re.findall(r'<h2 id="trajanon-([\w-]+)"', text)
    assert len(told) == len(set(told)) == len(app.registered_commands)
    assert {"extract", "map", "figures"} <= set(told)
    assert "--max-gap" in text
    assert str(ROOT) not in text


def test_every_link_of_the_site_leads_to_a_place(site: Path) -> None:
    out = "https://github.com/trajanon/trajanon/blob/main/"
    pages = {page: page.read_text("utf-8") for page in site.rglob("*.html") if page.stem != "404"}
    names = {page: set(re.findall(r'\b(?:id|name)="?([^" >]+)', pages[page])) for page in pages}
    dead, left = set(), set()
    for page, text in pages.items():
        for link in re.findall(r'<a\b[^>]*\bhref="?([^" >]+)', text):
            place, _, anchor = unquote(unescape(link)).partition("#")
            target = (page.parent / place).resolve() if place else page
            if place.startswith(out):
                left.add(place.removeprefix(out))
            elif ":" not in place and not (
                target.exists() and (not anchor or anchor in names[target])
            ):
                dead.add((page.name, link))
    assert dead == set()
    assert "extract/earth/cities.csv" in left
    assert all((ROOT / link).exists() for link in left)


def texts() -> Iterator[tuple[Path, str]]:
    """Texts that people read where they stand, in the repository."""
    for path in [*ROOT.glob("*.md"), *(ROOT / ".github").rglob("*.md"), *DOCS.rglob("*.md")]:
        yield path, path.read_text("utf-8")
    yield ROOT / "data/README.md", (ROOT / "data/README.md").read_text("utf-8")
    notebook = nbformat.read(DOCS / "tutorial.ipynb", as_version=4)
    cells = (cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    yield DOCS / "tutorial.ipynb", "\n".join(cells)


def test_every_link_in_the_repository_leads_to_a_place() -> None:
    """Also where no site is built: a page of it that is made there is no file here."""
    prose = {path: re.sub("(?ms)^```.*?^```", "", text) for path, text in texts()}
    names = {
        path: {re.sub(r"[^\w-]", "", head.lower().replace(" ", "-")) for head in heads}
        for path, heads in ((p, re.findall("(?m)^#+ (.+)$", text)) for p, text in prose.items())
    }
    dead = []
    for path, text in prose.items():
        for link in re.findall(r"\]\(([^)\s]+)", text):
            place, _, anchor = link.partition("#")
            target = (path.parent / place).resolve() if place else path
            there = target.exists() and (not anchor or anchor in names[target])
            if ":" not in place and not there:
                dead.append((path.name, link))
    assert sum(map(len, names.values())) > 100
    assert dead == []


def test_figures_that_commands_print_stand_on_their_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    check = import_module("figures_check")

    for chain in check.chains():
        for figure in chain.figure:
            assert len(check.quoted(figure)) == len(figure.values)
    # 548 is what 547.6 rounds to, and no number that is 8 % away.
    assert not check.differs("548", 547.6, 0.0)
    assert check.differs("1,548", 1_430.0, 0.08)
    assert check.value_at({"attacks": [{"found": 0.22}]}, "attacks.0.found %") == 22.0
