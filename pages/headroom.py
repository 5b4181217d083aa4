"""Headroom: what can be won here?"""

from frozenlab.app.headroom.page import page
from frozenlab.app.ui import nav

nav.ensure_nav()
page()
