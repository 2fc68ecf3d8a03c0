import numpy as np
import pytest
from hypothesis import HealthCheck, settings

from trajanon.data import sample
from trajanon.extract import extract
from trajanon.trajectories import Trajectories

settings.register_profile(
    "trajanon",
    derandomize=True,
    deadline=None,
    database=None,
    max_examples=50,
    suppress_health_check=[
        HealthCheck.too_slow,
        HealthCheck.function_scoped_fixture,  # tmp_path: each example writes it anew
    ],
)
settings.load_profile("trajanon")


@pytest.fixture(scope="session")
def madrid() -> Trajectories:
    """The bundled sample, extracted; its arrays cannot be changed."""
    trajectories = extract(str(sample()), "madrid")
    for array in (trajectories.points, trajectories.subject, trajectories.trace):
        assert isinstance(array, np.ndarray)
        array.flags.writeable = False
    return trajectories
