"""Benchmark: how good is a checkpoint, compared with others and with the paper?"""

from frozenlab.app.benchmark.page import page
from frozenlab.app.ui import nav

nav.ensure_nav()
page()
