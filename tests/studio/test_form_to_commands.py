"""The form of the studio as commands."""

from pathlib import Path
from typing import Any

from typer.main import get_command

from trajanon.__main__ import app
from trajanon.studio.fields import FIELDS
from trajanon.studio.form_to_commands import MAKE_RELEASE, Form


def test_each_field_sets_an_option_of_its_command(tmp_path: Path) -> None:
    commands: Any = get_command(app)
    form = Form(tmp_path, commands.commands)
    form.set_files(["tracks.gpx"], renames_release=True)
    form.chosen |= {"windows": True, "times": "of-day"}
    form.chosen |= {field.name: 1.0 for field in FIELDS if field.number}
    form.chosen |= {"id": "n", "bbox": "madrid", "hide_near": "x=y", "region": "z.osm.pbf"}
    lines = form.as_typed.splitlines()
    assert len(lines) == len(MAKE_RELEASE)
    assert "--columns id=n" in lines[0]
    assert "-k 1 " in lines[1] + " "  # whole numbers are written so
    assert lines[-1] == (
        "trajanon map --view public --offline --roads z.osm.pbf tracks-anonymized.parquet"
    )


def test_a_zero_is_not_taken_for_an_empty_field(tmp_path: Path) -> None:
    """The command refuses what it cannot use; it must not take its default instead."""
    commands: Any = get_command(app)
    form = Form(tmp_path, commands.commands)
    form.chosen |= {"times": "of-day", "minute_worth": 0, "k": 0}
    options = form.options()["anonymize"]
    assert (options["minute_worth"], options["k"]) == (0, 0)
    assert "one_line_each" not in options
