"""Names of the colours, and of the ways to publish that are compared."""

NOTICE = "For the holder of the data, not for publication."

GOOD, CAUTION, BAD = "good", "caution", "bad"

RELEASE = "this release"
AS_SLID = "this release, windows as slid"
MDAV = "MDAV"
NOTHING = "no protection"

SLID = ", as slid"  # ends the name of an attack from windows as slid
