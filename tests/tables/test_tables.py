"""Tables of numbers: what is written holds the promise."""

import csv
import re
from collections import Counter
from pathlib import Path
from typing import Any

import naive
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from real_data import CLASSIC, DATASETS, LEFT_OUT

from trajanon.common.arrays import Floats
from trajanon.common.errors import BadInput
from trajanon.tables.table_bound import bound_table
from trajanon.tables.table_check import check_table
from trajanon.tables.tables import MicroaggregatedTable, microaggregate_table, write_draft

MDAV: dict[str, Any] = {"method": "mdav", "refine": "none"}


def write(result: MicroaggregatedTable, path: Path) -> Path:
    write_draft(result, path)
    return path


def cells(path: Path) -> pd.DataFrame:
    """The cells of a CSV as they stand in it."""
    return pd.read_csv(path, dtype=str, keep_default_na=False)


def rarest(path: Path, columns: list[str]) -> int:
    """How often the rarest row of these columns occurs, as written."""
    rows = cells(path)[columns].itertuples(index=False)
    return min(Counter(map(tuple, rows)).values())


def frame(path: Path, **columns: list[Any]) -> Path:
    table = pd.DataFrame(columns)
    if path.suffix == ".parquet":
        table.to_parquet(path)
    else:
        table.to_csv(path, index=False)
    return path


# The reference data


@pytest.mark.parametrize("name", CLASSIC)
def test_the_reference_tables_are_microaggregated(tmp_path: Path, name: str) -> None:
    k = 3
    source = DATASETS / f"{name}.csv"
    if not source.exists():
        pytest.skip(f"the reference data are not beside the checkout: {source}")
    columns = [column for column in cells(source) if column not in LEFT_OUT]
    result = microaggregate_table(source, k, columns=columns, **MDAV)
    published = CLASSIC[name].split()[0]
    assert f"{result.report['information_loss']:.4f}" == published
    descended = microaggregate_table(source, k, columns=columns, refine="descent")
    for found in (result, descended):
        out = write(found, tmp_path / "out.csv")
        assert list(cells(out)) == found.report["columns"] == columns
        assert rarest(out, columns) >= k
        before, after = pd.read_csv(source)[columns], pd.read_csv(out)
        assert len(after) == len(before)
        assert after.mean().to_numpy() == pytest.approx(before.mean().to_numpy(), rel=1e-4)
        assert abs(found.report["rounding_loss"]) < 1e-6  # percent: dollars are small


# Any table


@st.composite
def tables(draw: st.DrawFn) -> tuple[Floats, int]:
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    k = draw(st.integers(2, 6))
    n = draw(st.integers(k, 40))
    X = rng.normal(size=(n, draw(st.integers(1, 4)))) ** 3
    if draw(st.booleans()):  # duplicates
        X = X[rng.integers(0, rng.integers(1, n + 1), n)]
    if draw(st.booleans()):  # constant
        X[:, 0] = rng.normal()
    scale = draw(st.sampled_from([1.0, 1e-300, 1e-9, 1e9, 1e300]))
    return X * scale + draw(st.sampled_from([0.0, 1e6, -1e15, 1e300])), k


@given(
    table=tables(), suffix=st.sampled_from([".csv", ".parquet"]), how=st.sampled_from([MDAV, {}])
)
def test_every_row_as_written_occurs_k_times(
    tmp_path: Path, table: tuple[Floats, int], suffix: str, how: dict[str, Any]
) -> None:
    X, k = table
    names = [f"x{column}" for column in range(X.shape[1])]
    source = tmp_path / "in.csv"
    pd.DataFrame(X, columns=names).to_csv(source, index=False)
    result = microaggregate_table(source, k, **how)
    out = write(result, tmp_path / f"out{suffix}")
    if suffix == ".csv":
        assert rarest(out, names) >= k
        written = cells(out).to_numpy(dtype=object).astype(np.float64)
    else:
        written = pd.read_parquet(out).to_numpy()
    assert np.array_equal(written, result.table.to_numpy())
    labels = np.unique(written, axis=0, return_inverse=True)[1].reshape(-1)
    assert naive.holds(labels, None, k)
    apart = np.abs(written.mean(axis=0) - X.mean(axis=0))
    assert (apart <= 1e-12 * np.abs(X).max(axis=0)).all()


@pytest.mark.parametrize("source", ["in.csv", "in.parquet"])
@pytest.mark.parametrize("out", ["out.csv", "out.parquet"])
def test_kept_columns_are_written_as_they_were(tmp_path: Path, source: str, out: str) -> None:
    path = frame(
        tmp_path / source,
        code=["007", "NA", "a, b", 'say "x"'],
        a=[1, 2, 30, 40],
        note=["one\nline", "", " é", "None"],
        b=[0.1, 0.2, 0.3, 0.4],
    )
    result = microaggregate_table(path, 2, columns=["b", "a"], keep=["note", "code"])
    written = write(result, tmp_path / out)
    again = cells(written) if out.endswith("csv") else pd.read_parquet(written).astype(str)
    assert list(again) == ["code", "a", "note", "b"]
    assert again["code"].tolist() == ["007", "NA", "a, b", 'say "x"']
    notes = ["one\nline", "", " é", "None"]
    assert again["note"].tolist() == notes
    assert again["a"].tolist() == ["2", "2", "35", "35"]


def test_whole_numbers_with_gaps_keep_every_digit(tmp_path: Path) -> None:
    ids = [2**53 + 1, 2**53, None, 7]
    path = tmp_path / "in.parquet"
    wide = pa.array([2**64 - 1, None, 5, 6], pa.uint64())
    columns = {"id": ids, "a": [1.5, 2.5, 3.5, 4.5], "n": [1, 2, None, 8], "wide": wide}
    pq.write_table(pa.table(columns), path)
    assert check_table(path, 2, columns=["id"]).smallest == 1
    result = microaggregate_table(path, 2, columns=["a", "n"], keep=["all"], missing="keep", **MDAV)
    written = pq.read_table(write(result, tmp_path / "out.parquet"))
    assert written["id"].to_pylist() == ids
    assert written["wide"].to_pylist() == wide.to_pylist()
    assert written.schema.types == [pa.int64(), pa.float64(), pa.int64(), pa.uint64()]
    assert cells(write(result, tmp_path / "out.csv"))["id"].tolist() == [
        "" if number is None else str(number) for number in ids
    ]


@pytest.mark.parametrize("name", ["2019", " age", "a5"])
def test_names_that_a_table_has_may_be_written(tmp_path: Path, name: str) -> None:
    columns: dict[str, list[Any]] = {name: [1, 2, 5, 6], "b": ["b1", "b2", "b3", "b4"]}
    path = frame(tmp_path / "in.parquet", **columns)
    written = cells(write(microaggregate_table(path, 2, keep=["b"]), tmp_path / "out.csv"))
    assert written[name].tolist() == ["2", "2", "6", "6"]


@pytest.mark.parametrize("source", ["in.csv", "in.parquet"])
def test_a_lone_return_ends_no_row(tmp_path: Path, source: str) -> None:
    notes = ["\r", "x\ry", "z\r", "", "\r\n", "plain"]
    path = tmp_path / source
    table = pd.DataFrame({"note": notes, "a": [1, 2, 5, 6, 8, 9]})
    if source.endswith("csv"):
        table.to_csv(path, index=False, quoting=csv.QUOTE_ALL)
    else:
        table.to_parquet(path)
    out = write(microaggregate_table(path, 2, keep=["note"]), tmp_path / "out.csv")
    with out.open(encoding="utf-8", newline="") as file:
        assert [row["note"] for row in csv.DictReader(file)] == notes
    assert check_table(out, 2, columns=["a"]).rows == 6


@pytest.mark.parametrize(
    "text", ["1;20\n2,5;21\n7;40\n8,1;41\n", "1,5;20\n2,5;21\n7,2;40\n8,1;41\n"]
)
def test_a_comma_in_a_name_separates_nothing(tmp_path: Path, text: str) -> None:
    path = tmp_path / "in.csv"
    path.write_text(f"income, net;age\n{text}", encoding="utf-8")
    out = write(microaggregate_table(path, 2), tmp_path / "out.csv")
    assert check_table(out, 2, columns=["income, net", "age"]).holds


@pytest.mark.parametrize("text", ["a;b\n1,5;x\n2;y\n4,5;z\n6;z\n", "a\n1,5\n2\n4,5\n6\n"])
def test_a_single_column_may_have_decimal_commas(tmp_path: Path, text: str) -> None:
    path = tmp_path / "in.csv"
    path.write_text(text, encoding="utf-8")
    out = write(microaggregate_table(path, 2), tmp_path / "out.csv")
    assert out.read_text(encoding="utf-8") == "a\n1,8\n1,8\n5,2\n5,2\n"
    assert check_table(out, 2, columns=["a"]).holds


@pytest.mark.parametrize("how", [MDAV, {"effort": "fast"}])
def test_groups_lie_within_strata(tmp_path: Path, how: dict[str, Any]) -> None:
    rng = np.random.default_rng(0)
    X, region = rng.normal(size=(40, 2)), rng.integers(0, 3, 40)
    who = np.arange(40) // 2
    values = {"a": X[:, 0], "b": X[:, 1], "region": region, "who": who}
    columns: dict[str, Any] = {name: value.tolist() for name, value in values.items()}
    path = frame(tmp_path / "in.csv", **columns)
    named: dict[str, Any] = {"strata": "region", "subject": "who", "keep": ["region"]}
    result = microaggregate_table(path, 3, **named, **how)
    rows = result.table.astype(str).agg("|".join, axis=1)
    assert pd.Series(who).groupby(rows).nunique().min() >= 3
    labels = pd.factorize(rows)[0]
    lost = naive.sse(naive.standardise(X), labels)
    loss = 100 * lost / (naive.standardise(X) ** 2).sum()
    assert result.report["information_loss"] == pytest.approx(loss)
    assert result.report["groups"] == len(set(rows))
    losses = result.report["loss_by_column"]
    assert np.mean(list(losses.values())) == pytest.approx(loss)
    assert list(losses) == ["a", "b"]


@pytest.mark.parametrize(
    ("columns", "says"),
    [
        (
            {"a": [1.0, float("nan")]},
            "values are missing in 1 of the 2 rows of in.parquet (a 1); fill",
        ),
        ({"a": [1.0, float("inf")]}, "column 'a' of in.parquet holds 'inf' in data"),
        ({"a": [True, False]}, "column 'a' of in.parquet holds 'True' in data row 1"),
        ({"a": pd.to_datetime(["2020-01-01"] * 2)}, "column 'a' of in.parquet holds"),
        ({"a": []}, "has a header but no rows"),
    ],
)
def test_parquet_is_refused_as_csv_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, columns: Any, says: str
) -> None:
    monkeypatch.chdir(tmp_path)
    path = frame(Path("in.parquet"), **columns)
    with pytest.raises(BadInput, match=re.escape(says)):
        microaggregate_table(path, 2, columns=["a"])


# Whose rows they are


def test_a_row_of_nobody_is_refused(tmp_path: Path) -> None:
    path = frame(tmp_path / "in.csv", who=["ann", " ", "bob"], a=[1, 2, 3])
    with pytest.raises(BadInput, match=r"missing in 1 of the 3 rows of .*in.csv \(who 1\); fill"):
        microaggregate_table(path, 2, subject="who")


@pytest.mark.parametrize("missing", ["refuse", "drop"])
def test_no_way_out_leads_to_no_rows(missing: Any) -> None:
    table = pd.DataFrame({"a": [1.5, None], "b": [None, 2.5]})
    with pytest.raises(BadInput, match=r"\(a 1, b 1\); fill them in, average what there is with"):
        microaggregate_table(table, 2, missing=missing)


def test_a_table_of_many_columns_lists_some(tmp_path: Path) -> None:
    path = frame(tmp_path / "in.csv", **{f"income_{i}": [1, 2] for i in range(999)})
    with pytest.raises(BadInput) as caught:
        microaggregate_table(path, 2, columns=["incom_7"])
    said = str(caught.value)
    assert "has no column 'incom_7'; its columns are" in said
    assert said.endswith(" ...")
    assert len(said) < 600


# TableColumns of other kinds


@pytest.mark.parametrize("name", ["columns", "keep"])
def test_names_in_one_string_are_refused(tmp_path: Path, name: str) -> None:
    source = frame(tmp_path / "in.csv", a=[1, 2, 3], b=[1, 2, 3])
    given: dict[str, Any] = {name: "ab"}
    with pytest.raises(BadInput, match=f"{name} must be a list of names"):
        microaggregate_table(source, 3, **given)
    with pytest.raises(BadInput, match="columns must be a list of names"):
        check_table(source, 3, columns="ab")
    with pytest.raises(BadInput, match="columns must be a list of names"):
        bound_table(source, 3, columns="ab")


def test_a_data_frame_is_a_table_whose_named_index_is_a_column(tmp_path: Path) -> None:
    table = pd.DataFrame(
        {"name": list("abcdef"), "age": [30, 32, 50, 54, 70, 71], "pay": [1.5, 2, 8, 9, 4, 3]},
        index=[7, 7, 8, 9, 3, 1],
    )
    table.to_parquet(tmp_path / "x.parquet", index=False)
    read = microaggregate_table(tmp_path / "x.parquet", 2, keep=["name"])
    for frame in (table, table.set_index("name")):
        given = microaggregate_table(frame, 2, keep=["name"])
        pd.testing.assert_frame_equal(given.table.reset_index(drop=True), read.table)
        assert given.report["risk"] == read.report["risk"]
        is_kept = "Warning: the index of the data frame is kept. It can identify people."
        assert (is_kept in given.report["notices"]) is (frame is table)
    assert table.index.tolist() == [7, 7, 8, 9, 3, 1]  # what was given stays as it was
    kept = microaggregate_table(table, 2, columns=["age"]).table
    assert kept.index.tolist() == [7, 7, 8, 9, 3, 1]
    dropped = microaggregate_table(table.set_index("name"), 2)
    assert list(dropped.table) == ["age", "pay"]
    assert "the order of the data frame" in " ".join(dropped.report["notices"])
