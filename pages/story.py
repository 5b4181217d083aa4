"""Story: what did the model change, and was it right?"""

from frozenlab.app.story.page import page
from frozenlab.app.ui import nav

nav.ensure_nav()
page()
