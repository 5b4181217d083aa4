"""Train: start a session and watch it."""

from frozenlab.app.train.page import page
from frozenlab.app.ui import nav

nav.ensure_nav()
page()
