"""A lesson for a class, and what it has solved."""

from frozenlab.app.learn.classroom import page
from frozenlab.app.ui import nav

nav.ensure_nav()
page()
