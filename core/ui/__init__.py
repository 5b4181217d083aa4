"""What pages share; the only part of core that imports streamlit."""
