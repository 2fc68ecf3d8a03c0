"""Results as figures for a paper: SVG and PNG, each with a caption."""

from trajanon.maps.figures.benchmark_figures import of_benchmark
from trajanon.maps.figures.figure_of_k import which_k
from trajanon.maps.figures.figure_style_and_saving import Picture, save

__all__ = ["Picture", "of_benchmark", "save", "which_k"]
