"""GPS traces -> trajectories of equally spaced points.

Names are loaded when they are first used: files are read without the libraries for maps and roads.
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
