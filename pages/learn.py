"""Learn: how do many agents find their way at once?"""

from frozenlab.tasks.lake.page.learn.page import page
from frozenlab.ui import nav

nav.ensure_nav()
page()
