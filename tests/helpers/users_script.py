"""A user's script, which nobody runs: each line that mypy is told to ignore is a mistake.

`make lint` fails where such a line is no error, and where another one is.
"""

import numpy as np

import trajanon


def show(task: str, done: float, total: float | None, note: str = "") -> None: ...


trajectories = trajanon.Trajectories(np.zeros((9, 2, 2)))
trajanon.anonymize(trajectories, k=2, seed=1)
trajanon.anonymize(trajectories, k=2, sede=1)  # type: ignore[call-arg]
trajanon.anonymize(trajectories, k=2, effort=17)  # type: ignore[arg-type]
trajanon.anonymize_file("a", "b", k=2, time_step="5min")  # type: ignore[arg-type]
release = trajanon.anonymize(trajectories, k=2)
trajanon.anonymize(release.trajectories, k=2)  # type: ignore[arg-type]
trajanon.evaluate(release, trajectories)  # type: ignore[arg-type]
trajanon.evaluate(trajectories, trajectories, release.report)  # type: ignore[arg-type]
trajanon.evaluate(trajectories, release)
trajanon.anonymize(trajectories, k=np.int64(2), seed=np.int8(1))
trajanon.anonymize(trajectories, k=2, progress=show)
trajanon.anonymize(trajectories, k=2, progress=print)  # type: ignore[arg-type]
