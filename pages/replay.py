"""Replay: what would others have proposed from the same evidence?"""

from frozenlab.app.replays.page import page
from frozenlab.app.ui import nav

nav.ensure_nav()
page()
