"""Trajectories, their tracks, times, days and subjects, and distances on the Earth."""
