"""The server of the studio without a browser."""

import asyncio
from pathlib import Path

import pytest
from starlette.requests import Request

from trajanon.studio import server_and_uploads
from trajanon.studio.running_commands import Work


def test_an_upload_is_measured_as_it_comes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_and_uploads, "LARGEST_UPLOAD", 1_000)
    work = Work(tmp_path, {})
    (tmp_path / "files").mkdir()
    sent = iter([600, 600, 600])

    async def receive() -> dict[str, object]:
        return {"type": "http.request", "body": bytes(next(sent)), "more_body": True}

    request = Request({"type": "http", "headers": [], "method": "PUT"}, receive)
    answer = asyncio.run(server_and_uploads._uploaded(work, "large.gpx", request))
    assert answer.status_code == 413
    assert list(sent) == [600]  # it read no further
    assert work.problem is not None
    assert "over a gigabyte" in work.problem.sentence
    assert not work.form.files
    assert not list((tmp_path / "files").iterdir())


def test_what_could_not_be_stored_is_said_until_the_next_choice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server_and_uploads, "LARGEST_UPLOAD", 1_000)
    work = Work(tmp_path, {})
    (tmp_path / "files").mkdir()

    def upload(name: str, size: str, *, is_first: bool) -> int:
        """Send a file, the first one of a choice or a later one."""

        async def receive() -> dict[str, object]:
            return {"type": "http.request", "body": b"", "more_body": False}

        headers = [(b"x-bytes", size.encode()), (b"x-first", str(is_first).lower().encode())]
        request = Request({"type": "http", "headers": headers, "method": "PUT"}, receive)
        return asyncio.run(server_and_uploads._uploaded(work, name, request)).status_code

    assert upload("large.gpx", "2000", is_first=True) == 413
    assert upload("gone.gpx", "unreadable", is_first=False) == 507
    assert upload("small.gpx", "0", is_first=False) == 200
    assert work.form.files == ["files/small.gpx"]
    assert work.problem is not None
    assert "large.gpx could not be stored: it is over a gigabyte" in work.problem.sentence
    assert "gone.gpx could not be stored: the browser cannot read it" in work.problem.sentence
    assert upload("small.gpx", "0", is_first=True) == 200
    assert work.problem is None


@pytest.mark.parametrize("name", [".", "..", "a/b", "n" * 300, "a\x00b"])
def test_a_name_stays_in_the_folder_of_uploads(tmp_path: Path, name: str) -> None:
    work = Work(tmp_path, {})
    (tmp_path / "files").mkdir()

    async def receive() -> dict[str, object]:
        return {"type": "http.request", "body": b"x", "more_body": False}

    request = Request({"type": "http", "headers": [], "method": "PUT"}, receive)
    answer = asyncio.run(server_and_uploads._uploaded(work, name, request))
    assert answer.status_code != 200
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []
    assert not work.form.files
