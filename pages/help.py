"""Help: how does the lab work?"""

from frozenlab.app.help import page
from frozenlab.app.ui import nav

nav.ensure_nav()
page()
