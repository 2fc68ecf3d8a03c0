"""What the ways to publish are called that are set beside each other."""

NOTICE = "For the holder of the data, not for publication."

RELEASE = "this release"
AS_SLID = "this release, windows as slid"
MDAV = "MDAV"
NOTHING = "no protection"

SLID = ", as slid"  # ends the name of an attack from windows as slid
