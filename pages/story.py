"""Story: what did the model change, and was it right?"""

from frozenlab.loop.page.story.page import page
from frozenlab.ui import nav

nav.ensure_nav()
page()
