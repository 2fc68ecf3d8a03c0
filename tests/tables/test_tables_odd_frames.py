"""Frames of every kind that pandas, polars, Arrow and DuckDB have: a table, or one sentence."""

import json
import warnings
from collections.abc import Callable
from datetime import time
from decimal import Decimal
from functools import partial
from typing import Any

import duckdb
import geopandas
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from shapely import Point

import trajanon

N = 12
MDAV: dict[str, Any] = {"method": "mdav", "refine": "none"}
HALVES = [1.5 * n for n in range(N)]
WHOLE = list(range(N))
LETTERS = list("abc") * 4


def frame(**columns: Any) -> pd.DataFrame:
    values = np.random.default_rng(0).normal(size=N).round(2)
    return pd.DataFrame({"a": values, "b": HALVES, **columns})


def named(*names: Any) -> pd.DataFrame:
    return pd.DataFrame(
        np.arange(2.0 * N).reshape(N, 2), columns=pd.Index(names, tupleize_cols=False)
    )


def of_pandas(kind: str) -> pd.DataFrame:
    return frame(c=pd.array(WHOLE, kind))


def of_numpy(kind: str) -> pd.DataFrame:
    return frame(c=np.arange(N).astype(kind))


TAKEN: dict[str, Callable[[], Any]] = {
    "k rows": lambda: frame().iloc[:3],
    "a column without values": lambda: frame(c=[np.nan] * N),
    "a MultiIndex of columns": lambda: pd.DataFrame(
        np.ones((N, 2)), columns=pd.MultiIndex.from_tuples([("x", "a"), ("x", "b")])
    ),
    "a MultiIndex with names": lambda: frame().set_index(
        pd.MultiIndex.from_product([range(3), range(4)], names=["g", "h"])
    ),
    "a MultiIndex without": lambda: frame().set_index(
        pd.MultiIndex.from_product([range(3), range(4)])
    ),
    "numbered columns": lambda: named(0, 1),
    "a name that is None": lambda: named(None, "b"),
    "a name that is NaN": lambda: named(np.nan, "b"),
    "a name of two lines": lambda: named("a\nb", "b"),
    "a name with NUL": lambda: named("a\0", "b"),
    "a name of 5,000 letters": lambda: named("x" * 5_000, "b"),
    "names that are tuples": lambda: named(("a", 1), ("b", 2)),
    "an index of one value": lambda: frame().set_axis([1] * N),
    "an index of dates": lambda: frame().set_axis(pd.date_range("2020", periods=N)),
    "an index with a zone": lambda: frame().set_axis(
        pd.date_range("2020", periods=N, tz="Europe/Madrid")
    ),
    "an index of texts": lambda: frame().set_axis(list("abcdefghijkl")),
    "an index of steps": lambda: frame().set_axis(range(0, 2 * N, 2)),
    "an index that falls": lambda: frame().iloc[::-1],
    "times with a zone": lambda: frame(c=pd.date_range("2020", periods=N, tz="UTC")),
    "times": lambda: frame(c=pd.date_range("2020", periods=N)),
    "periods": lambda: frame(c=pd.period_range("2020", periods=N, freq="D")),
    "spans of time": lambda: frame(c=pd.to_timedelta(np.arange(N), "s")),
    "intervals": lambda: frame(c=pd.interval_range(0, N)),
    "categories": lambda: frame(c=pd.Categorical(LETTERS)),
    "numbered categories": lambda: frame(c=pd.Categorical([1, 2, 3] * 4)),
    "missing categories": lambda: frame(c=pd.Categorical([1, None, 3] * 4)),
    "ordered categories": lambda: frame(c=pd.Categorical(LETTERS, ordered=True)),
    "truths": lambda: frame(c=[True, False] * 6),
    "missing truths": lambda: frame(c=pd.array([True, None] * 6, "boolean")),
    "truths as objects": lambda: frame(c=np.array([True, None] * 6, object)),
    **{
        f"{kind} of pandas": partial(of_pandas, kind)
        for kind in ("Int8", "Int64", "UInt8", "Float32", "Float64", "string", "int64[pyarrow]")
    },
    **{
        f"{kind} of numpy": partial(of_numpy, kind)
        for kind in (
            "int8",
            "uint8",
            "int16",
            "int32",
            "uint64",
            "float16",
            "float32",
            "longdouble",
            "complex128",
        )
    },
    "decimals": lambda: frame(c=[n * Decimal("1.25") for n in range(N)]),
    "decimals of Arrow": lambda: frame(
        c=pd.Series([Decimal("1.25")] * N).astype(pd.ArrowDtype(pa.decimal128(6, 2)))
    ),
    "numbers as texts": lambda: frame(c=[str(n) for n in range(N)]),
    "decimal commas": lambda: frame(c=[f"{n},5" for n in range(N)]),
    "texts of Arrow": lambda: frame(c=pd.array(LETTERS, "string[pyarrow]")),
    "lists": lambda: frame(c=[[1], [2]] * 6),
    "dictionaries": lambda: frame(c=[{"a": 1}] * N),
    "bytes": lambda: frame(c=[b"x"] * N),
    "sets": lambda: frame(c=[{1}] * N),
    "objects": lambda: frame(c=[object()] * N),
    "frames": lambda: frame(c=[pd.DataFrame()] * N),
    "arrays": lambda: frame(c=[np.arange(3)] * N),
    "sparse numbers": lambda: frame(c=pd.arrays.SparseArray([0, 0, 1] * 4)),
    "huge numbers": lambda: frame(c=np.linspace(0, 1e305, N)),
    "tiny numbers": lambda: frame(c=np.linspace(0, 5e-324, N)),
    "one number": lambda: frame(c=[5] * N),
    "only one number": lambda: pd.DataFrame({"a": [5] * N}),
    "numbers of 18 digits": lambda: frame(c=[10**17 + n for n in range(N)]),
    "numbers of 31 digits": lambda: frame(c=[10**30 + n for n in range(N)]),
    "the largest numbers": lambda: frame(c=np.array([2**64 - 1 - n for n in range(N)], np.uint64)),
    "negative zeros": lambda: frame(c=[-0.0, 0.0] * 6),
    "300 columns": lambda: pd.DataFrame(np.random.default_rng(0).normal(size=(N, 300))),
    "polars": lambda: pl.DataFrame({"a": HALVES, "b": WHOLE}),
    "categories of polars": lambda: pl.DataFrame(
        {"a": HALVES, "c": pl.Series(LETTERS, dtype=pl.Categorical)}
    ),
    "decimals of polars": lambda: pl.DataFrame({"a": [n * Decimal("1.25") for n in range(N)]}),
    "records of polars": lambda: pl.DataFrame({"a": HALVES, "s": [{"x": 1}] * N}),
    "times of polars": lambda: pl.DataFrame({"a": HALVES, "t": [time(3)] * N}),
    "Arrow": lambda: pa.table({"a": HALVES}),
    "a dictionary of Arrow": lambda: pa.table(
        {"a": HALVES, "d": pa.array(LETTERS).dictionary_encode()}
    ),
    "no values of Arrow": lambda: pa.table({"a": HALVES, "z": pa.nulls(N)}),
    "a batch of Arrow": lambda: pa.record_batch({"a": pa.array(HALVES)}),
    "a stream of Arrow": lambda: pa.table({"a": HALVES}).to_reader(),
    "long decimals of Arrow": lambda: pa.table(
        {"a": pa.array([n * Decimal("1.5") for n in range(N)], pa.decimal256(50, 3))}
    ),
    "half floats of Arrow": lambda: pa.table({"a": pa.array(np.arange(N).astype(np.float16))}),
    "lists of Arrow": lambda: pa.table({"a": HALVES, "l": [[1]] * N}),
    "maps of Arrow": lambda: pa.table(
        {"a": HALVES, "m": pa.array([[("x", 1)], None, []] * 4, pa.map_(pa.string(), pa.int64()))}
    ),
    "spans of Arrow": lambda: pa.table({"a": HALVES, "d": pa.array(WHOLE, pa.duration("s"))}),
    "truths of Arrow": lambda: pa.table({"a": HALVES, "d": [True, False] * 6}),
    "a relation of DuckDB": lambda: duckdb.sql(
        "select i * 1.5 as a, i % 3 as b from range(12) t(i)"
    ),
    "geometries": lambda: geopandas.GeoDataFrame(
        frame(), geometry=[Point(n, n) for n in range(N)], crs=4326
    ),
}

REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "an empty frame": (pd.DataFrame, "has a header but no rows"),
    "an empty frame of polars": (pl.DataFrame, "has a header but no rows"),
    "no rows": (lambda: frame().iloc[:0], "has a header but no rows"),
    "one row": (lambda: frame().iloc[:1], "1 record cannot form a group of k = 3"),
    "two rows": (lambda: frame().iloc[:2], "2 records cannot form a group of k = 3"),
    "no values": (lambda: pd.DataFrame({"a": [np.nan] * N}), "has no column to microaggregate"),
    "gaps": (lambda: frame(c=[1.5, None] * 6), "values are missing in 6 of the 12 rows"),
    "gaps of polars": (lambda: pl.DataFrame({"a": [1.5, None] * 6}), "values are missing in 6"),
    "gaps of Int64": (lambda: frame(c=pd.array([1, None] * 6, "Int64")), "missing in 6 of"),
    "gaps of Float32": (lambda: frame(c=pd.array([1, None] * 6, "Float32")), "missing in 6 of"),
    "gaps of texts": (lambda: frame(c=pd.array(["1", None] * 6, "string")), "missing in 6 of"),
    "gaps of Arrow": (lambda: frame(c=pd.array([1, None] * 6, "int64[pyarrow]")), "missing in 6"),
    "gaps of sparse": (lambda: frame(c=pd.arrays.SparseArray([np.nan, 1.0] * 6)), "missing in 6"),
    "gaps of decimals": (lambda: frame(c=[Decimal("NaN"), Decimal(1)] * 6), "missing in 6 of"),
    "mixed cells": (lambda: frame(c=[1, "2", 3.0, None] * 3), "missing in 3 of"),
    "infinity": (lambda: frame(c=[1.0, np.inf] * 6), "'inf' in data row 2; what is not a finite"),
    "infinite decimals": (
        lambda: frame(c=[Decimal("Infinity")] + [Decimal(1)] * 11),
        "not a finite",
    ),
    "thousands": (lambda: frame(c=[f"{n + 1},250" for n in range(N)]), "may be several numbers"),
    "a number beyond all floats": (lambda: frame(c=[10**400] + [1] * 11), "not a finite number"),
    "a signalling NaN": (lambda: frame(c=[Decimal("sNaN"), *WHOLE[1:]]), "not a finite number"),
    "a wide column": (lambda: frame(c=[-1.7e308, 1.7e308] * 6), "spans more than"),
    "two columns of a name": (lambda: named("a", "a"), "has two columns 'a'"),
    "two columns of a text": (lambda: named(1, "1"), "has two columns '1'"),
    "two columns of Arrow": (lambda: pa.table([HALVES] * 2, ["a", "a"]), "has two columns 'a'"),
    "no name": (lambda: named("", "b"), "column 1 of the data frame has no name"),
    "an index like a column": (lambda: frame().rename_axis("a"), "has two columns 'a'"),
    "a lazy frame": (
        lambda: pl.LazyFrame({"a": HALVES}),
        "needed, not LazyFrame: collect it first",
    ),
    "a series of polars": (lambda: pl.Series(HALVES), "needed, not Series ("),
    "a series": (lambda: pd.Series(HALVES), "needed, not Series ("),
    "an array of Arrow": (lambda: pa.array(HALVES), "needed, not DoubleArray"),
    "an array": (lambda: np.zeros((N, 2)), "needed, not ndarray"),
    "a dictionary": (lambda: {"a": HALVES}, "needed, not dict"),
    "a list": (lambda: [[1, 2]] * N, "needed, not list"),
    "None": (lambda: None, "needed, not NoneType"),
    "a number": (lambda: 5, "needed, not int"),
    "bytes for a path": (lambda: b"x.csv", "needed, not bytes"),
    "groups": (lambda: frame().groupby("a"), "needed, not DataFrameGroupBy"),
}


@pytest.mark.parametrize("kind", TAKEN)
def test_frames_of_every_kind_are_tables(kind: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", np.exceptions.ComplexWarning)
        result = trajanon.microaggregate_table(
            TAKEN[kind](), 3, columns=["all"], keep=["all"], **MDAV
        )
        warnings.simplefilter("ignore", RuntimeWarning)  # of pandas, about float16
        assert len(repr(result.table)) > 0
    json.dumps(result.report, allow_nan=False)
    checked = trajanon.check_table(result.table, 3, columns=result.report["columns"])
    assert checked.holds
    assert trajanon.check_table(TAKEN[kind](), 2, columns=["all"]).rows == result.report["n"]


@pytest.mark.parametrize(
    ("kind", "largest"),
    [
        ("int32", 2**31 - 1),
        ("int64", 2**63 - 1),
        ("uint64", 2**64 - 1),
        ("Int64", 2**63 - 1),
        ("int64[pyarrow]", 2**63 - 1),
    ],
)
def test_the_largest_number_stays_the_largest(kind: str, largest: int) -> None:
    table = pd.DataFrame({"a": pd.Series([largest, largest, 5, 7], dtype=kind)})
    means = trajanon.microaggregate_table(table, 2, **MDAV).table["a"]
    assert means.dtype == kind
    assert largest * (1 - 1e-15) <= int(means[0]) <= largest
    assert int(means[2]) == 6


@pytest.mark.parametrize("kind", REFUSED)
def test_what_is_no_table_is_refused_in_one_sentence(kind: str) -> None:
    make, says = REFUSED[kind]
    with pytest.raises(trajanon.TrajanonError) as caught:
        trajanon.microaggregate_table(make(), 3, columns=["all"], **MDAV)
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)
