"""Results as figures for a paper: SVG and PNG, each with a caption."""

from trajanon.maps.figures.costs import trade_off_time, which_k
from trajanon.maps.figures.measured import of_benchmark
from trajanon.maps.figures.pictures import Picture, file_names, save
from trajanon.maps.figures.released import of_release

__all__ = [
    "Picture",
    "file_names",
    "of_benchmark",
    "of_release",
    "save",
    "trade_off_time",
    "which_k",
]
