"""The publisher's words: what is read, what is refused, and how they are written."""

import re
import tomllib
from dataclasses import asdict, fields, replace
from pathlib import Path
from textwrap import dedent

import pytest
from commands import mode
from hypothesis import given
from hypothesis import strategies as st

from trajanon import BadInput, FileProblem, Publisher
from trajanon.common.plain_text import markdown, plain_text

ADDRESSES = {"contact", "address", "officer"}
WORDS = [word.name for word in fields(Publisher) if word.name not in ADDRESSES]


@given(st.lists(st.text(max_size=30), min_size=len(WORDS), max_size=len(WORDS)))
def test_any_words_are_written_as_toml_and_read_again(texts: list[str]) -> None:
    publisher = Publisher(**dict(zip(WORDS, texts, strict=True)))
    assert tomllib.loads(publisher.text) == asdict(publisher)
    assert Publisher(**asdict(publisher)) == publisher
    for name, text in zip(WORDS, texts, strict=True):
        if name != "licence":
            assert getattr(publisher, name) == plain_text(text)


def test_a_file_is_read_as_it_was_written(tmp_path: Path) -> None:
    path = tmp_path / "publisher.toml"
    publisher = Publisher(
        title='Trips "of all"\\ kinds\n# in two lines',
        name="Ayuntamiento de Madrid",
        contact="datos@madrid.es",
        officer="https://www.madrid.es/dpd",
        purpose="\x1b[2J\u202e\x7f",
    )
    publisher.write(path)
    assert Publisher.read(path) == publisher
    assert publisher.title == 'Trips "of all"\\ kinds # in two lines'
    assert publisher.purpose == "[2J"
    assert mode(path) == 0o600


def test_an_empty_file_says_nothing(tmp_path: Path) -> None:
    path = tmp_path / "publisher.toml"
    for text in ("", Publisher().text):
        path.write_text(f"\ufeff{text}", "utf-8")
        assert Publisher.read(path) == Publisher()


def test_each_field_has_one_line_of_explanation() -> None:
    lines = Publisher().text.splitlines()
    for word in fields(Publisher):
        place = lines.index(f'{word.name} = ""')
        assert lines[place - 1].startswith(f"# {word.metadata['label']}")
        assert len(lines[place - 1]) < 100


def test_the_documentation_shows_the_file() -> None:
    page = (Path(__file__).parents[2] / "docs/report.md").read_text("utf-8")
    block = page[page.index("    # Published in") : page.index("`trajanon evaluate --publisher")]
    shown = tomllib.loads(dedent(block))
    assert [*shown] == [word.name for word in fields(Publisher)]
    assert Publisher(**shown) == Publisher()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('licens = "CC0-1.0"', "there is no field licens; did you mean licence?"),
        ('zzz = ""', "there is no field zzz; choose from title, name, contact"),
        ("title = 3", "title must be a text in quotes (got 3)"),
        ('[title]\nen = "Trips"', "title must be a text in quotes (got {'en': 'Trips'})"),
        ('contact = "ask Ada"', "contact must be an e-mail address or a web address that"),
        ('contact = "a@b.es <script>"', "contact must be an e-mail address"),
        ('officer = "javascript:alert(1)"', "officer must be an e-mail address"),
        ('address = "data@madrid.es"', "address must be a web address that begins with https://"),
        ('address = "https://ada:secret@madrid.es"', "address must be a web address"),
        ('title = "a', "does not hold the publisher's words, as TOML in UTF-8"),
        (f"title = {'[' * 9999}", "is nested too deeply"),
    ],
)
def test_what_cannot_be_used_is_refused_in_a_sentence(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "publisher.toml"
    path.write_text(text, "utf-8")
    with pytest.raises(BadInput) as refused:
        Publisher.read(path)
    assert said in str(refused.value)
    assert str(path) in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileProblem, match=r"cannot read the publisher's words .*none\.toml"):
        Publisher.read(tmp_path / "none.toml")


@pytest.mark.parametrize(
    ("licence", "written", "address"),
    [
        ("cc by 4.0", "CC-BY-4.0", "https://spdx.org/licenses/CC-BY-4.0"),
        ("ODBL-1.0", "ODbL-1.0", "https://spdx.org/licenses/ODbL-1.0"),
        ("https://madrid.es/licence", "https://madrid.es/licence", "https://madrid.es/licence"),
        ("ask us", "ask us", None),
        ("", "", None),
    ],
)
def test_a_licence_is_an_identifier_an_address_or_words(
    licence: str, written: str, address: str | None
) -> None:
    publisher = Publisher(licence=licence)
    assert (publisher.licence, publisher.licence_address) == (written, address)


@given(st.text(alphabet="a|<>[]*_`&~\\ /:.@", max_size=20))
def test_no_words_are_markdown(text: str) -> None:
    written = markdown(text)
    if written != f"<{text}>":
        assert re.sub(r"\\([\\`*_\[\]<>|&~])", r"\1", written) == text
        assert not re.search(r"[`*_\[\]<>|&~]", re.sub(r"\\.", "", written))


def test_an_email_address_can_be_followed() -> None:
    publisher = Publisher(contact="datos@madrid.es")
    assert publisher.contact_address == "mailto:datos@madrid.es"
    page = "https://madrid.es/contacto?a=1#b"
    assert replace(publisher, contact=page).contact_address == page
