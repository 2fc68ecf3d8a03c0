"""What the columns of tables were taken for: records, and the sentences that are made of them."""

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain

from trajanon.common.errors import BadInput, printable
from trajanon.common.json_toml_and_regular_files import typed

_LISTED = 40  # unused columns, or possible persons, that are listed
_LETTERS = 40  # of a column's name that are written


@dataclass(frozen=True, slots=True)
class ColumnsRead:
    """How the columns of one or more tables were used, all in the same way."""

    roles: Mapping[str, str]  # columns by their roles
    unused: Sequence[str]  # columns
    tables: int = 1  # of how many tables

    @property
    def sentence(self) -> str:
        """Write which columns were used as what, and which were not."""
        used = (f"{role}={printable(name, _LETTERS)}" for role, name in self.roles.items())
        unused = ", ".join(printable(name, _LETTERS) for name in self.unused[:_LISTED]) or "none"
        unlisted = len(self.unused) - _LISTED
        if unlisted > 0:
            unused += f" and {unlisted:,} more"
        tables = f" of {self.tables:,} tables" if self.tables > 1 else ""
        return f"Columns{tables}: {', '.join(used) or 'none'}; not used: {unused}."


def columns_read(provenance: Mapping[str, object]) -> list[ColumnsRead]:
    """Read how columns were used from a provenance, that of most tables first.

    Anybody may have written it: what is no such use is passed over.
    """
    written = provenance.get("columns")
    uses = []
    for entry in written if isinstance(written, list) else []:
        with suppress(BadInput):
            uses.append(typed(entry, ColumnsRead))
    return sorted(uses, key=lambda use: -use.tables)


@dataclass(slots=True)
class NamesHeld:
    """What a column without a role holds in all tables of which no person is known."""

    recordings: int = 0  # that have a value
    names: set[str] = field(default_factory=set)
    varies: bool = False  # within a recording

    def add(self, table: "NamesHeld") -> None:
        """Add what the column holds in another table."""
        self.recordings += table.recordings
        self.varies |= table.varies
        # What varies within a recording is no person's: its names are not kept.
        self.names = set() if self.varies else self.names | table.names

    @property
    def may_be_persons(self) -> bool:
        """Return whether each recording has one value, and several recordings share a value.

        One value alone is that of a device or a project.
        """
        return not self.varies and 1 < len(self.names) < self.recordings


ColumnsUsed = tuple[tuple[tuple[str, str], ...], tuple[str, ...]]
"""Roles with their columns, and the columns that are not used, of one table; hashable."""


@dataclass(slots=True)
class TablesRead:
    """What readers of tables decided and found."""

    uses: Counter[ColumnsUsed] = field(default_factory=Counter)  # tables by how they were read
    names: dict[str, NamesHeld] = field(default_factory=dict)  # by column

    @property
    def columns(self) -> list[str]:
        """List the columns of all tables, each once."""
        names = ([*dict(roles).values(), *unused] for roles, unused in self.uses)
        return list(dict.fromkeys(chain.from_iterable(names)))

    def update(self, tables: "TablesRead") -> None:
        """Add what was read of other tables."""
        self.uses.update(tables.uses)
        for column, held in tables.names.items():
            self.names.setdefault(column, NamesHeld()).add(held)

    @property
    def account(self) -> dict[str, list[dict[str, object]]]:
        """Return what the provenance of trajectories holds of columns and of possible persons."""
        columns = [
            {"roles": dict(roles), "unused": list(unused), "tables": tables}
            for (roles, unused), tables in self.uses.items()
        ]
        persons = [
            {"column": column, "values": len(held.names)}
            for column, held in self.names.items()
            if held.may_be_persons
        ]
        return {"columns": columns, "possible_persons": persons}


def persons_sentence(possible: Sequence[Mapping[str, object]]) -> str:
    """Write which columns may name persons, as `TablesRead.account` lists them; "" if none may."""
    if not possible:
        return ""
    named = [
        f"{printable(str(column['column']), _LETTERS)!r} ({column['values']:,})"
        for column in possible
    ]
    unlisted = f" and {len(named) - _LISTED:,} more" if len(named) > _LISTED else ""
    verb = "may do so" if len(named) == 1 else "may each do so"
    return (
        f"No column is known to name people, but {', '.join(named[:_LISTED])}{unlisted} {verb}, "
        "because recordings share values (their number is in brackets): set `columns` "
        "subject=NAME, or subject=none"
    )
