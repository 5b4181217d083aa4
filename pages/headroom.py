"""Headroom: what can be won here?"""

from frozenlab.headroom.page.page import page
from frozenlab.ui import nav

nav.ensure_nav()
page()
