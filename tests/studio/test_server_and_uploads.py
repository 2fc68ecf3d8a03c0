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
