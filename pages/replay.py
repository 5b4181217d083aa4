"""Replay: what would others have proposed from the same evidence?"""

from frozenlab.replays.page.page import page
from frozenlab.ui import nav

nav.ensure_nav()
page()
