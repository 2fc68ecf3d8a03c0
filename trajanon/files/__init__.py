"""Trajectories and releases <-> files, one format a module."""
