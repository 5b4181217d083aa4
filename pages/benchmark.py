"""Benchmark: how good is a checkpoint, beside others and beside the paper?"""

from frozenlab.benchmark.page.page import page
from frozenlab.ui import nav

nav.ensure_nav()
page()
