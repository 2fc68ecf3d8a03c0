"""The attacks that the evidence of a release consists of."""

from trajanon.privacy.attack import Attack, Published
from trajanon.privacy.known_points import known_ends, known_points
from trajanon.privacy.linkage import nearest_record, other_tracks


def attacks(published: Published) -> list[Attack]:
    """Run every attack on a release; on the originals those that find more than themselves."""
    known = [known_points(published, order=order) for order in (False, True)]
    known.append(known_ends(published))
    if published.against == "originals":
        return known
    others = [] if published.subjects is None else [other_tracks(published)]
    return [nearest_record(published), *known, *others]
