"""What a release costs, and what it is still good for: a measure a file."""

from trajanon.utility.displacements import displacement as displacement
from trajanon.utility.displacements import moved_to as moved_to
from trajanon.utility.displacements import summary as summary
