"""A run out of memory that is stopped: one sentence, and nothing stays of it."""

import logging
import os
import signal
import tempfile
from functools import partial
from pathlib import Path

import distributed
import pytest
from commands import Run
from shards import released, walks, write_folder

from trajanon.common.errors import ServerProblem
from trajanon.common.progress import silent
from trajanon.common.threads_and_dask import connected, each_done
from trajanon.shards import anonymize_folders, sharded_run, survey_and_cuts


def process_of(_: int) -> int:
    return os.getpid()


def interrupt_oneself(_: int) -> int:
    os.kill(os.getpid(), signal.SIGINT)
    sum(range(100_000))
    return os.getpid()


def die_once(flag: str) -> int:
    if not Path(flag).exists():
        Path(flag).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return os.getpid()


def refuse(_: int) -> None:
    msg = "this is no number"
    raise ValueError(msg)


def test_workers_leave_ctrl_c_and_words_to_the_one_who_started_them(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)  # how long the new worker takes to start is another matter
    with connected("local:1") as client:
        (process,) = each_done(client, silent, "Asking", interrupt_oneself, [1])
        assert [*each_done(client, silent, "Asking", process_of, [1])] == [process]

    # Another one: what a lost worker did is done again.
    with connected("local:1") as client:
        each = partial(each_done, client, silent)
        (first,) = each("Asking", process_of, [1])
        (second,) = each("Dying", die_once, [str(tmp_path / "flag")])
        assert first != second
        assert [*each("Asking", interrupt_oneself, [1])] == [second]  # which goes on
        # Dask would warn of what is large.
        assert [*each("Counting", len, [bytes(11_000_000)])] == [11_000_000]
        with pytest.raises(ValueError, match="this is no number"):
            list(each("Refusing", refuse, [1]))
    assert capfd.readouterr() == ("", "")


def test_workers_that_cannot_be_started_are_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object, **__: object) -> None:
        msg = "Nanny failed\nto start."
        raise RuntimeError(msg)

    monkeypatch.setattr(distributed, "LocalCluster", fails)
    with pytest.raises(ServerProblem, match=r"started with local:2: Nanny failed to start\."):
        connected("local:2").__enter__()


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
