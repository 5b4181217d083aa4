"""Present: a session as a talk."""

from frozenlab.loop.page.present.page import page
from frozenlab.ui import nav

nav.ensure_nav()
page()
