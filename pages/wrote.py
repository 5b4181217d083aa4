"""What they wrote: the configs of a study's engineers, side by side."""

from frozenlab.app.studies.wrote import page
from frozenlab.app.ui import nav

nav.ensure_nav()
page()
