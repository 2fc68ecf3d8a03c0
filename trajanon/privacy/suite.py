"""The attacks that the evidence of a release consists of."""

from trajanon.privacy.attack import Attack, Published
from trajanon.privacy.known_points import known_ends, known_in_both_orders, known_points
from trajanon.privacy.linkage import nearest_ends, nearest_record, other_tracks
from trajanon.times import HOUR

_CHOICES = 200  # of four points of each target, drawn: the mean over all targets hardly varies


def attacks(published: Published) -> list[Attack]:
    """Run every attack on a release; on the originals those that find more than themselves.

    Where there are times, also those that know the hour of what they know, to an hour.
    """
    known = [attack for both in known_in_both_orders(published) for attack in both]
    known += [known_ends(published).evenly, nearest_ends(published)]
    found = known
    if published.against == "release":
        others = [] if published.subjects is None else [other_tracks(published)]
        found = [nearest_record(published), *known, *others]
    if published.times is not None and published.line_times is not None:
        points = [m for m in (2, 4) if m <= published.points.shape[1]]
        guesses = [known_points(published, m, hour=HOUR, sample=_CHOICES) for m in points]
        guesses.append(known_ends(published, hour=HOUR))
        found += [attack for both in guesses for attack in both]
    return found
