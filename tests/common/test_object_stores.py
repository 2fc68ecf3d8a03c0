"""Files and folders by URL."""

import fsspec
import pytest

from trajanon.common.errors import BadInput
from trajanon.common.object_stores import local_copy


@pytest.mark.parametrize("name", ["a[1].parquet", "a?.parquet", "a*.parquet"])
def test_a_name_is_not_taken_for_a_pattern(name: str) -> None:
    for one in (name, "a1.parquet", "a1.json"):
        fsspec.filesystem("memory").pipe(f"/patterns/{one}", one.encode())
    with (
        pytest.raises(BadInput, match="which match other names: use another name"),
        local_copy(f"memory://patterns/{name}"),
    ):
        pytest.fail("another file was copied")
    with local_copy("memory://patterns/a1.parquet") as copy:
        assert {path.name: path.read_text() for path in copy.parent.iterdir()} == {
            "a1.parquet": "a1.parquet",
            "a1.json": "a1.json",
        }
