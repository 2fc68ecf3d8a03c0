"""The publisher's words on a release, in a file beside the data."""

import re
from dataclasses import dataclass, field, fields
from difflib import get_close_matches
from pathlib import Path

from trajanon.common.atomic_output import replacing
from trajanon.common.errors import BadInput
from trajanon.common.json_toml_and_regular_files import read_toml
from trajanon.common.plain_text import EMAIL, WEB_PAGE, plain_text
from trajanon.evaluation.page.templates import rendered
from trajanon.trajectories.trajectories import OSM_ATTRIBUTION

_IDENTIFIERS = """
CC0-1.0 CC-BY-4.0 CC-BY-SA-4.0 CC-BY-NC-4.0 CC-BY-NC-SA-4.0 CC-BY-ND-4.0 CC-BY-NC-ND-4.0 ODbL-1.0
ODC-By-1.0 PDDL-1.0 CDLA-Permissive-2.0 CDLA-Sharing-1.0 DL-DE-BY-2.0 DL-DE-ZERO-2.0 etalab-2.0
OGL-UK-3.0
"""
_SPDX = {name.lower(): name for name in _IDENTIFIERS.split()}
"""Licences for data by their identifiers, as SPDX writes them; other licences are free words."""

OSM_LICENCE = "ODbL-1.0"
"""The licence of OpenStreetMap's data, and of what is made of them."""


def _word(label: str, hint: str = "", *, public: bool = True) -> str:
    """Declare a field that is empty unless the publisher fills it in."""
    return field(default="", metadata={"label": label, "hint": hint, "public": public})


@dataclass(frozen=True, slots=True, kw_only=True)
class Publisher:
    """What only the publisher of a release knows; an empty field is not said anywhere.

    Control characters and line ends are taken out. Datasheet and certificate repeat the fields from
    ``title`` to ``after_release``, the record of processing repeats all.

    Attributes
    ----------
    title
        Title of the release.
    name
        Name of the publisher, the controller of the data.
    contact
        E-mail address or web page of the publisher.
    address
        Web address of the release.
    licence
        An SPDX identifier, such as CC-BY-4.0, a web address, or free words.
    subject
        What a subject is: a person, a vehicle or an account.
    source
        Who recorded the tracks, and why.
    recipients
        Who may use the release.
    context
        What recipients may know of the subjects, and gain from finding them.
    before_release
        Who approved the release, and when.
    after_release
        Who reviews the release, when, and what happens after an incident.
    officer
        E-mail address or web page of the data protection officer.
    purpose
        What the tracks are processed and published for.
    legal_basis
        The legal basis of processing and publication.
    retention
        How long tracks, report and key are kept.

    Raises
    ------
    BadInput
        If a field is no text, or no address where one is due.

    Examples
    --------
    >>> from trajanon import Publisher
    >>> publisher = Publisher(title="Trips in Tarragona", licence="cc by 4.0")
    >>> publisher.licence, publisher.licence_address
    ('CC-BY-4.0', 'https://spdx.org/licenses/CC-BY-4.0')
    >>> publisher.write("publisher.toml")
    >>> Publisher.read("publisher.toml") == publisher
    True
    """

    title: str = _word("Title")
    name: str = _word("Publisher", "the controller of the data")
    contact: str = _word("Contact", "an e-mail address or a web page")
    address: str = _word("Web address of the release")
    licence: str = _word("Licence", "such as CC-BY-4.0, a web address, or free words")
    subject: str = _word("A subject is", "a person, a vehicle or an account")
    source: str = _word("Recorded by", "who, and what for")
    recipients: str = _word("Recipients", "who may use the release")
    context: str = _word("Adversaries", "what they may know of subjects, and gain")
    before_release: str = _word("Approved by", "who, and when")
    after_release: str = _word("Reviewed by", "who, when, and what follows an incident")
    officer: str = _word("Data protection officer", "an e-mail address or a web page", public=False)
    purpose: str = _word("Purpose", "of processing and of publication", public=False)
    legal_basis: str = _word("Legal basis", "of processing and of publication", public=False)
    retention: str = _word("Retention", "how long tracks, report and key are kept", public=False)

    def __post_init__(self) -> None:
        # Texts of strangers are printed, published, and written as TOML. The record is frozen: this
        # is the only place that changes its fields.
        for word in fields(self):
            text = getattr(self, word.name)
            if not isinstance(text, str):
                raise BadInput(f"{word.name} must be a text in quotes (got {text!r})")
            object.__setattr__(self, word.name, plain_text(text))

        for name in ("contact", "officer"):
            _check_address(name, getattr(self, name), EMAIL, WEB_PAGE)
        _check_address("address", self.address, WEB_PAGE)

        identifier = self.licence.lower().replace(" ", "-")
        object.__setattr__(self, "licence", _SPDX.get(identifier, self.licence))

    @property
    def licence_address(self) -> str | None:
        """Return the web address of the licence; None of free words."""
        if self.licence in _SPDX.values():
            return f"https://spdx.org/licenses/{self.licence}"
        return self.licence if WEB_PAGE.fullmatch(self.licence) else None

    @property
    def contact_address(self) -> str:
        """Return the contact as a web address, with ``mailto:`` before an e-mail address."""
        return f"mailto:{self.contact}" if EMAIL.fullmatch(self.contact) else self.contact

    @property
    def published(self) -> dict[str, str]:
        """Return the words that are published, by their labels; without empty ones."""
        return {
            word.metadata["label"]: getattr(self, word.name)
            for word in fields(self)
            if word.metadata["public"] and getattr(self, word.name)
        }

    @property
    def text(self) -> str:
        """Return the text of the file, with a line of explanation before each field."""
        return rendered("publisher.toml", publisher=self, words=fields(self))

    def write(self, path: str | Path) -> None:
        """Write the file, readable by its owner alone."""
        with replacing(Path(path)) as (draft,):
            draft.write_text(self.text, encoding="utf-8")

    @classmethod
    def read(cls, path: str | Path) -> "Publisher":
        """Read the file.

        Raises
        ------
        FileProblem
            If the file cannot be read.
        BadInput
            If the file is no TOML, has an unknown field, or a value that cannot be used.
        """
        words = read_toml(Path(path), "the publisher's words")
        known = [word.name for word in fields(cls)]
        for name in words:
            if name not in known:
                near = get_close_matches(name, known, n=1)
                hint = f"did you mean {near[0]}?" if near else f"choose from {', '.join(known)}"
                raise BadInput(f"{path}: there is no field {name}; {hint}")
        try:
            return cls(**words)
        except BadInput as error:
            raise BadInput(f"{path}: {error}") from error


def check_licence(publisher: Publisher, attribution: str | None) -> None:
    """Refuse another licence than that of OpenStreetMap, if a release is made of its data."""
    if attribution == OSM_ATTRIBUTION and publisher.licence not in ("", OSM_LICENCE):
        raise BadInput(
            f"the release is made of data of OpenStreetMap under {OSM_LICENCE}: write this as its "
            f"licence, or leave it empty (got {publisher.licence!r})"
        )


def _check_address(name: str, text: str, *forms: re.Pattern[str]) -> None:
    if text and not any(form.fullmatch(text) for form in forms):
        email = "an e-mail address or " if EMAIL in forms else ""
        raise BadInput(
            f"{name} must be {email}a web address that begins with https:// (got {text!r}); leave "
            "it empty if there is none"
        )
