"""What a release costs, and what it is still good for: a measure a file."""

from trajanon.utility.metres import displacement as displacement
from trajanon.utility.metres import moved_to as moved_to
from trajanon.utility.metres import summary as summary
