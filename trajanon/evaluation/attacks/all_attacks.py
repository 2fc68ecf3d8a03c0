"""All attacks that pick a row of the release, in the order in which they are shown."""

from trajanon.evaluation.attacks.attack import Attack
from trajanon.evaluation.attacks.nearest_record_or_ends import nearest_ends, nearest_record
from trajanon.evaluation.attacks.next_trip import NextLines, next_line
from trajanon.evaluation.attacks.published_lines import Published
from trajanon.evaluation.attacks.two_known_points import two_points


def attacks(published: Published, after_known: NextLines | None = None) -> list[Attack]:
    """Run every attack on a release; on originals, only those by both ends and by the next trip.

    Who knows a whole trajectory, or points of it, would find each original as itself. If times are
    released, adversaries know hours; by two points they are tried without, too.
    ``after_known`` are the lines that go on from known trajectories, if ranked already.
    """
    tried = [nearest_ends(published)]
    if published.against == "release":
        tried = [nearest_record(published), two_points(published), *tried]
        if published.times is not None and published.line_times is not None:
            tried.append(two_points(published, with_hours=True))
    if published.steps is not None:
        tried.append(next_line(published, after_known))
    return tried
