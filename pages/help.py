"""Help: how does the lab work?"""

from frozenlab.loop.page.help import page
from frozenlab.ui import nav

nav.ensure_nav()
page()
