"""The commands that mend or look into files: trajanon ledger, snap and clean."""

from pathlib import Path

import trajanon
from trajanon.cli.messages import show_json, tell
from trajanon.cli.options import ANONYMIZED, options
from trajanon.errors import BadInput
from trajanon.number_text import number_of

_ACTIONS = ("show", "verify", "forget")


@options(
    action="show what was released; verify that it is still there, and mend what a killed run "
    "left; or forget a release that was never published: its trajectories count as new again.",
    ledger="The file that anonymize was given with --ledger.",
    release="Number of the release to forget.",
)
def ledger(action: str, ledger: Path, release: int | None = None, *, as_json: bool = False) -> None:
    """Look into the ledger of your releases, or mend it: show, verify or forget."""
    from trajanon.privacy.ledger import opened

    if action not in _ACTIONS:
        raise BadInput(f"trajanon ledger takes show, verify or forget (got {action!r})")
    if (action == "forget") != (release is not None):
        wants = "the number of a release, which show tells" if release is None else "no number"
        raise BadInput(f"trajanon ledger {action} {ledger} takes {wants}")
    with opened(ledger) as book:
        if release is not None:
            told = book.forget(release).told
            tell(
                f"Release {release}, {told['release']}, is forgotten: its {told['n']:,} "
                "trajectories count as new. If anybody has it, they will be in two releases."
            )
            return
        found = [(entry, "") for entry in book.entries]
        if action == "verify":
            found = book.verify()
    killed = f"its run was killed, see: trajanon ledger verify {ledger}"
    said = [state or killed * (not entry.told["settled"]) for entry, state in found]
    if as_json:
        pairs = zip(found, said, strict=True)
        releases = [{"number": one.number, **one.told, "state": state} for (one, _), state in pairs]
        show_json({"releases": releases})
        return
    for (entry, _), state in zip(found, said, strict=True):
        told = entry.told
        released = number_of(told["n"], "trajectory", "trajectories")
        what = f"{released}, k = {told['k']} {told['counted']}"
        tell(
            f"{entry.number}: {told['release']}, {told['when']}, {what}{': ' * bool(state)}{state}"
        )
    if not found:
        tell(f"Nothing is released in {ledger}")


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
    from trajanon.cli.report_tables import bars
    from trajanon.extract import roads_to_follow
    from trajanon.files.geoparquet import write_released
    from trajanon.files.release_formats import check_release_format, release_parts, write_release
    from trajanon.files.trajectory_files import is_part
    from trajanon.parts.shards import parts_of

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


@options(folder="Folder with your outputs; folders inside it are not searched.")
def clean(folder: Path = Path()) -> None:
    """Remove drafts that killed runs left; they hold originals."""
    removed, kept = trajanon.clean(folder)
    for left in removed:
        tell(f"Removed {left}")
    for left, why in kept.items():
        tell(f"Kept {left}: {why}")
    if not removed and not kept:
        tell(f"Nothing to remove in {folder}")
