"""Design: what should the model train on?"""

from frozenlab.tasks.lake.page.design.page import page
from frozenlab.ui import nav

nav.ensure_nav()
page()
