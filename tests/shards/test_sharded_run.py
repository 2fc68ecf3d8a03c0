"""A run in shards that is stopped: one sentence, and nothing stays of it."""

import tempfile
from pathlib import Path

import pytest
from commands import Run
from shards import released, walks, write_folder

from trajanon.shards import anonymize_folders, sharded_run, survey_and_cuts


@pytest.mark.parametrize(
    ("module", "step"),
    [(survey_and_cuts, "read_part"), (sharded_run, "search_shard"), (sharded_run, "write_parts")],
)
def test_ctrl_c_says_what_it_leaves(
    run: Run,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
    module: object,
    step: str,
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    write_folder(Path("trajectories"), walks(90))
    given = ("anonymize", "trajectories", "-k", "3", "--effort", "fast")
    assert run(*given).code == 0
    before = released(Path("anonymized"))
    there = sorted(path.name for path in Path().iterdir())
    monkeypatch.setattr(anonymize_folders, "shards_for", lambda *_: 3)
    monkeypatch.setattr(module, step, interrupted)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path_factory.mktemp("scratch")))
    answer = run(*given)
    assert answer.code == 130
    assert answer.out == ""
    kept = "the groups of 3 shards are kept: the same command continues from them"
    assert answer.err == (
        (f"trajanon: {kept}\n" if step == "write_parts" else "")
        + "trajanon: stopped; nothing was released, and anonymized is as it was\n"
    )
    assert sorted(path.name for path in Path().iterdir()) == there
    assert released(Path("anonymized")) == before
