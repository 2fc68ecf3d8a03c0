"""trajanon check: its exit codes."""

from pathlib import Path

from commands import Run


def test_check_answers_by_its_exit_code(run: Run, here: Path) -> None:
    assert run("check", "-k", 4).code == 0
    refused = run("check", "-k", 5)
    assert refused.code == 1
    assert refused.out.startswith("anonymized.parquet must not be published:\n- ")
    assert refused.err == ""
    originals = run("check", "trajectories.parquet", "-k", 4)
    assert originals.code == 1
    assert "column 'subject'" in originals.out
    (here / "anonymized.parquet").write_bytes(b"damaged")
    assert "cannot read anonymized.parquet as Parquet" in run("check", "-k", 4).sentence
    assert "there is no x.csv" in run("check", "x.csv", "-k", 4).sentence
