"""The server process stays light: no page imports torch, transformers or trl."""

import os
import subprocess
import sys
from pathlib import Path

from core.ui import nav

SCRIPT = """
import sys
from streamlit.testing.v1 import AppTest
for page in sys.argv[1:]:
    app = AppTest.from_file(page, default_timeout=120)
    app.session_state["_nav"] = True
    app.run()
    assert not app.exception, (page, app.exception)
print([name for name in ("torch", "transformers", "trl") if name in sys.modules])
"""


def test_no_page_imports_the_heavy_half(tmp_path: Path) -> None:
    pages = [str(nav.ROOT / nav.path(name)) for name in nav.PAGES]
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, *pages],
        cwd=nav.ROOT,
        env=os.environ | {"FROZENLAB_SESSIONS": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "[]"
