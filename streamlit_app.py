"""FrozenLab's entry point: ``streamlit run streamlit_app.py`` or ``frozenlab app``.

The server imports this file once for ``app``, and runs it as a script each time that a page is drawn.
"""

import sys

import streamlit as st

from frozenlab.app.ui import nav, server, theme
from frozenlab.app.ui.live import routes
from frozenlab.base.errors import LabError
from frozenlab.tasks import background

if __name__ == "__main__":
    theme.frame()
    nav.show(nav.build())
else:
    server.look_nothing_up()
    try:
        chain = server.middleware()
    except LabError as error:
        sys.exit(f"frozenlab: {error}")
    background.start()
    app = st.App(__file__, routes=routes(), middleware=chain, on_script_error=nav.refused)
