"""Data frames of any library: into pandas, and back into what was given."""

import os
from typing import Any

import pandas as pd
import pyarrow as pa
from pyarrow.interchange import from_dataframe

from trajanon.common.errors import BadInput
from trajanon.files import arrow

WKB = "geoarrow."
"""How Arrow's names for columns of geometries begin."""


def to_pandas(frame: object, what: str = "the frame") -> pd.DataFrame:
    """Return a frame of any library as one of pandas, or of geopandas if it marks geometries.

    >>> import pyarrow as pa
    >>> to_pandas(pa.table({"age": [30, None], "name": ["Ada", "Bob"]}))["age"].tolist()
    [30, None]
    """
    if isinstance(frame, pd.DataFrame):
        return frame
    table = _arrow_of(frame)
    arrow.refuse_repeated_columns(table.schema, what)

    geometry = [
        field.name
        for field in table.schema
        if (field.metadata or {}).get(b"ARROW:extension:name", b"").startswith(WKB.encode())
    ]
    binary = [
        field.name
        for field in table.drop_columns(geometry).schema
        if pa.types.is_binary(field.type)
        or pa.types.is_large_binary(field.type)
        or pa.types.is_fixed_size_binary(field.type)
        or pa.types.is_binary_view(field.type)
    ]
    # As floats, long whole numbers lose digits, and two ids could become one.
    options = {"date_as_object": False, "integer_object_nulls": True}
    plain = arrow.frame(table.drop_columns([*geometry, *binary]), what, **options)
    plain = plain.assign(**{name: table[name].to_pylist() for name in binary})
    if not geometry:
        return plain

    import geopandas

    # Without what pandas noted of an index, rows are numbered as in the other columns.
    shapes = table.select(geometry).replace_schema_metadata(None)
    with arrow.reading(what, "a table of geometries", ValueError):
        geometries = geopandas.GeoDataFrame.from_arrow(shapes)
    return geometries.assign(**plain)[table.column_names]


def _arrow_of(frame: object) -> pa.Table:
    """Return a frame as a table of Arrow, by one of the two protocols that libraries agreed on."""
    try:
        if hasattr(frame, "__arrow_c_stream__"):
            return pa.table(frame)
        if hasattr(frame, "__dataframe__"):
            return from_dataframe(frame)
    except (pa.ArrowException, TypeError, ValueError, NotImplementedError) as error:
        why = f" ({' '.join(str(error).split())[:200]})"
    else:
        why = ""
    known = "of pandas, geopandas, polars, pyarrow or DuckDB"
    way_out = ""
    if hasattr(frame, "collect"):
        way_out = ": collect it first"
    elif isinstance(frame, str | os.PathLike):
        way_out = ": read the file first"
    raise BadInput(f"a data frame {known} is needed, not {type(frame).__name__}{way_out}{why}")


def like(given: object, table: pd.DataFrame) -> Any:
    """Return a table as a frame of the library of another; of pandas as it is.

    >>> import pyarrow as pa
    >>> like(pa.table({"age": [30]}), pd.DataFrame({"age": [31]})).column_names
    ['age']
    """
    if isinstance(given, pd.DataFrame):
        return table

    made = pa.Table.from_pandas(table, preserve_index=False).replace_schema_metadata(None)
    library = type(given).__module__.partition(".")[0]
    if library == "polars":
        import polars

        return polars.from_arrow(made)
    if library == "duckdb":
        import duckdb

        return duckdb.from_arrow(made)
    return made
