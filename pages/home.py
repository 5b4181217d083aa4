"""Home: what FrozenLab is, and the sessions on this machine."""

from frozenlab.loop.page.home import page
from frozenlab.ui import nav

nav.ensure_nav()
page()
