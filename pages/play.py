"""Play: how does the model plan on this board, and what is optimal?"""

from frozenlab.app.play.page import page
from frozenlab.app.ui import nav

nav.ensure_nav()
page()
