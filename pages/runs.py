"""Runs: all experiments in one table, and up to six of them side by side."""

from frozenlab.app.runs.page import page
from frozenlab.app.ui import nav

nav.ensure_nav()
page()
