"""An address as a QR code, for phones that stand before a screen."""

from __future__ import annotations

import segno
import streamlit as st

SIDE = 200
"""Of the picture, in CSS pixels at a root size of 16 px."""


def qr_code(address: str) -> None:
    """Shows ``address`` as a QR code, dark on white in every theme: that is what cameras read best."""
    try:
        picture = segno.make_qr(address, error="l").svg_data_uri(border=3, dark="#000", light="#fff")
    except segno.DataOverflowError:
        st.caption("The address is too long for a QR code.")
        return
    st.html(f'<img src="{picture}" alt="QR code of the address" style="width:{SIDE / 16}rem;display:block">')
