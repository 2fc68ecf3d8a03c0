"""Groups as columns: set partitioning by column generation, with HiGHS."""

from trajanon.columns.best import best_groups as best_groups
from trajanon.columns.generation import Relaxation as Relaxation
from trajanon.columns.generation import generate as generate
from trajanon.columns.growing import first_groups as first_groups
from trajanon.columns.growing import nearest_groups as nearest_groups
from trajanon.columns.market import meetings as meetings
from trajanon.columns.market import open_market as open_market
from trajanon.columns.market import with_trios as with_trios
from trajanon.columns.master import Choice as Choice
from trajanon.columns.master import Master as Master
from trajanon.columns.searching import Found as Found
from trajanon.columns.searching import groups_within as groups_within
from trajanon.columns.searching import search as search
