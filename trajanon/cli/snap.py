"""trajanon snap."""

from pathlib import Path

import trajanon
from trajanon.cli.options import ANONYMIZED, options
from trajanon.cli.wording import show_json, tell
from trajanon.errors import BadInput
from trajanon.words import number_of


@options(
    release="A released file, or a folder of parts.",
    pbf="An .osm.pbf file with the roads of its area.",
    mode="Whose roads: car, bicycle, foot or any. Cars and bicycles keep to one-way streets.",
    keep_off="Metres; a line with a point farther than this from all roads stays as it is.",
    out="File to write; for parts, a folder.",
)
def snap(
    release: Path = ANONYMIZED,
    *,
    pbf: Path,
    mode: str = "any",
    keep_off: float = 100.0,
    out: Path,
    as_json: bool = False,
) -> None:
    """Lay the lines of a release on roads. It writes no report."""
    from trajanon.atomic_output import replacing, replacing_folder
    from trajanon.cli.screen import bars
    from trajanon.extract import roads_to_follow
    from trajanon.files.geoparquet import write_released
    from trajanon.files.release import check_release_format, release_parts, write_release
    from trajanon.files.trajectories import is_part
    from trajanon.parts.finish import parts_of

    # Arguments are easily swapped, and originals must not look released.
    if problems := trajanon.check(release, k=2).problems:
        raise BadInput(f"{release} is no release: {problems[0]}")
    roads = roads_to_follow(pbf, mode, keep_off)
    shown, inputs = trajanon.read_release(release), [release, pbf]
    with bars() as progress:
        if release.is_dir():
            inputs = [*release_parts(release), pbf]
            with replacing_folder(out, is_part, inputs, public=True) as draft:
                laid, found = roads.lay_release(shown, progress)
                for name, some, first in parts_of(laid):
                    with (draft / name).open("wb") as file:
                        write_released(file, some, first)
        else:
            check_release_format(out, timed=shown.times is not None)
            with replacing(out, inputs=inputs, public=[out]) as (draft,):
                laid, found = roads.lay_release(shown, progress)
                write_release(draft, laid)
    on, n = int(found.on_roads.sum()), len(found.on_roads)
    if as_json:
        show_json({"lines": n, "on_roads": on, "as_they_were": n - on})
        return
    tell(
        f"Wrote {out}: {on:,} of {number_of(n, 'different line')} on roads. Others are as before: "
        f"a point of them is farther than {keep_off:g} m from all roads, or no way leads along. "
        f"Next: trajanon check {out} -k K"
    )
