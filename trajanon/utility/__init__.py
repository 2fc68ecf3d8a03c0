"""Cost and usefulness of a release: one measure for each file."""

from trajanon.utility.displacements import displacement as displacement
from trajanon.utility.displacements import moved_to as moved_to
from trajanon.utility.displacements import summary as summary
