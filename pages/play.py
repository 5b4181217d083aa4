"""Play: how does the model plan on this board, and what is optimal?"""

from frozenlab.tasks.lake.page.play.page import page
from frozenlab.ui import nav

nav.ensure_nav()
page()
