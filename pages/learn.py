"""Learn: how do many agents find their way at once?"""

from frozenlab.app.learn.page import page
from frozenlab.app.ui import nav

nav.ensure_nav()
page()
