"""What columns were taken for: records of many tables, and sentences."""

import pytest

from trajanon.common.columns_read import (
    ColumnsRead,
    ColumnsUsed,
    NamesHeld,
    TablesRead,
    columns_read,
    persons_sentence,
)


def test_the_use_of_most_tables_comes_first_and_what_is_none_is_passed_over() -> None:
    written = [
        {"roles": {"id": "a"}, "unused": []},
        {"roles": {"id": "b"}, "unused": ["c"], "tables": 9},
        {"roles": 7, "unused": []},
        "no use",
    ]
    assert columns_read({"columns": written}) == [
        ColumnsRead({"id": "b"}, ["c"], 9),
        ColumnsRead({"id": "a"}, []),
    ]
    assert columns_read({"columns": "anything"}) == columns_read({}) == []


def test_a_sentence_names_forty_unused_columns_and_escapes_them() -> None:
    use = ColumnsRead({"id": "a\x1b"}, [f"c{number}" for number in range(42)], 1_000)
    assert use.sentence.startswith(r"Columns of 1,000 tables: id=a\x1b; not used: c0, c1, ")
    assert use.sentence.endswith(" c39 and 2 more.")
    assert ColumnsRead({}, []).sentence == "Columns: none; not used: none."


@pytest.mark.parametrize(
    ("held", "may_be"),
    [
        (NamesHeld(3, {"ann", "bob"}), True),
        (NamesHeld(2, {"ann", "bob"}), False),  # a value for each recording
        (NamesHeld(3, {"ann"}), False),  # a device or a project
        (NamesHeld(3, {"ann", "bob"}, varies=True), False),
    ],
)
def test_a_column_may_name_persons_if_several_recordings_share_its_values(
    held: NamesHeld, may_be: bool
) -> None:
    assert held.may_be_persons is may_be


def test_tables_are_read_together() -> None:
    """What varies in one of them names nobody in the others, in whatever order they come."""
    use: ColumnsUsed = ((("id", "trip"),), ("driver", "place"))
    tables = TablesRead()
    for names in (
        {"driver": NamesHeld(2, {"ann", "bob"}), "place": NamesHeld(2, {"x", "y"})},
        {"driver": NamesHeld(1, {"bob"}), "place": NamesHeld(varies=True)},
        {"place": NamesHeld(2, {"x", "y"})},
    ):
        one = TablesRead(names=names)
        one.uses[use] += 1
        tables.update(one)
    assert tables.columns == ["trip", "driver", "place"]
    assert tables.account == {
        "columns": [{"roles": {"id": "trip"}, "unused": ["driver", "place"], "tables": 3}],
        "possible_persons": [{"column": "driver", "values": 2}],
    }


def test_columns_that_may_name_people_are_asked_for() -> None:
    assert persons_sentence([]) == ""
    one = persons_sentence([{"column": "driver", "values": 1_200}])
    assert "but 'driver' (1,200) may do so, because" in one
    many = persons_sentence([{"column": f"c{number}", "values": 2} for number in range(43)])
    assert "'c39' (2) and 3 more may each do so" in many
