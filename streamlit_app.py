"""FrozenLab's entry point: ``streamlit run streamlit_app.py`` or ``frozenlab app``.

The server imports this file once for ``app``, and runs it as a script each time that a page is drawn.
"""

import streamlit as st

from frozenlab.app.ui import live, nav, server, theme

if __name__ == "__main__":
    theme.frame()
    nav.show(nav.build())
else:
    app = st.App(__file__, routes=live.routes(), middleware=server.begin(), on_script_error=nav.refused)
