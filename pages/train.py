"""Train: start a session and watch it."""

from frozenlab.loop.page.train.page import page
from frozenlab.ui import nav

nav.ensure_nav()
page()
