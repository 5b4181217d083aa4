"""Present: a session as a talk."""

from frozenlab.app.present.page import page
from frozenlab.app.ui import nav

nav.ensure_nav()
page()
