"""Home: what FrozenLab is, and the sessions on this machine."""

from frozenlab.app.home import page
from frozenlab.app.ui import nav

nav.ensure_nav()
page()
