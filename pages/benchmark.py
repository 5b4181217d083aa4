"""Benchmark: how good is a checkpoint, compared with others and with the paper?"""

from frozenlab.benchmark.page.page import page
from frozenlab.ui import nav

nav.ensure_nav()
page()
