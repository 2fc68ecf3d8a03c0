"""Where each row lies on the curve, and whose it is: found once, and kept in scratch.

A run, or a trace, may have rows in several parts. Each part puts what it knows of such owners of
rows where those of all parts are compared; what others know is put where a part finds its own.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pandas as pd

from trajanon.common.arrays import Column, Hashes, Ints
from trajanon.files.parquet_parts import ParquetParts, Part
from trajanon.shards.parts_table import PartsTable
from trajanon.shards.people_of_rows import NO_NAME, recordings_of_part
from trajanon.shards.scratch_and_resume import buckets_of_numbers
from trajanon.trajectories.subjects import Nameless


class PlacedRows(NamedTuple):
    """Where rows are on the curve, those of a run where its first row is; and whose they are."""

    key: Ints  # place on the Hilbert curve, (n,); equal only for rows of one run
    person: Hashes  # of the person, (n,)


def places_of_part(table: PartsTable, part: Part) -> PlacedRows:
    """Read the keys and persons of a part, with what others know of its runs and traces."""
    (rows,) = table.scratch.frames("places", part.first_row)
    key, person = (rows[name].to_numpy() for name in ("key", "person"))
    for keys in table.scratch.frames("keys", part.first_row):
        key = replaced(key, rows["run"], keys)
    for persons in table.scratch.frames("persons", part.first_row):
        of_trace = replaced(person, rows["trace"], persons)
        person = np.where(person == NO_NAME, of_trace, person)
    return PlacedRows(key, person)


def replaced(values: Column, owner: pd.Series, known: pd.DataFrame) -> Column:
    """Replace the values of rows whose ``owner``, (n,), is known, by that owner's value."""
    place = pd.Index(known["owner"]).get_indexer(owner)
    is_known = place >= 0
    values = values.copy()
    values[is_known] = known["value"].to_numpy()[place[is_known]]
    return values


def put_places(table: PartsTable, part: ParquetParts, rows: pd.DataFrame) -> None:
    """Put the keys and persons of the rows of a part, as far as it knows them."""
    table.scratch.put("places", np.full(part.n, part.first_row), 0, rows)


def put_owners(
    table: PartsTable, part: ParquetParts, kind: str, owner: Column, value: Column
) -> None:
    """Put the different values of each owner of rows, (n,), where those of all parts are compared.

    An owner's values are in the order of its rows.
    """
    owners = pd.DataFrame({"owner": owner, "value": value}).drop_duplicates()
    owners["part"] = part.first_row
    bucket = buckets_of_numbers(owners["owner"].to_numpy(), table.file.n)
    table.scratch.put(kind, bucket, part.first_row, owners)


def put_traces(table: PartsTable, number: int) -> None:
    """Put the traces of a part, and the persons that they name, or none."""
    with table.file.part(number) as part:
        (rows,) = table.scratch.frames("places", part.first_row)
        rows["trace"] = recordings_of_part(part).person
    put_places(table, part, rows)
    put_owners(table, part, "traces", rows["trace"], rows["person"])


def share_keys_of_runs(table: PartsTable) -> None:
    """Set the keys of runs with rows in several parts to those of their first rows."""
    for number, runs in enumerate(_owners(table, "runs")):
        runs["value"] = runs.groupby("owner")["value"].transform("first")
        _share(table, "keys", number, runs[runs["owner"].duplicated()])


def share_persons_of_traces(table: PartsTable, *, some_have_names: bool) -> Nameless:
    """Find whose rows without a name are: the person whom another row of their trace names.

    Traces without any name are of one person, or each of its own if nobody has a name. Count them.
    """
    nameless_traces = 0
    for number, traces in enumerate(_owners(table, "traces")):
        has_name = traces["value"] != NO_NAME
        nameless = traces.loc[~has_name, ["owner", "part"]]
        named = traces.loc[has_name, ["owner", "value"]].drop_duplicates("owner")
        owned = nameless.merge(named, on="owner")
        nameless_traces += nameless["owner"].nunique() - owned["owner"].nunique()
        if not some_have_names:
            owned = nameless.assign(value=nameless["owner"])
        _share(table, "persons", number, owned)

    subjects = min(nameless_traces, 1) if some_have_names else nameless_traces
    return Nameless(nameless_traces, subjects)


def _owners(table: PartsTable, kind: str) -> Iterator[pd.DataFrame]:
    """Read what parts put of owners, all of an owner together, in the order of parts."""
    for bucket in table.scratch.buckets(kind):
        yield bucket.sort_values("part", kind="stable")


def _share(table: PartsTable, kind: str, number: int, owners: pd.DataFrame) -> None:
    """Put the values of owners where each part finds its own."""
    table.scratch.put(kind, owners["part"].to_numpy(), number, owners[["owner", "value"]])
