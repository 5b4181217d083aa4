"""Runs: all experiments in one table, and up to six of them side by side."""

from frozenlab.loop.page.runs.page import page
from frozenlab.ui import nav

nav.ensure_nav()
page()
