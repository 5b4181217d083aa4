"""The lab as people install it: a wheel alone, in an empty folder, without a checkout."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
import time
import urllib.request
from pathlib import Path
from typing import NamedTuple

import pytest

from frozenlab.base.places import CHECKOUT
from tests.builders import short_spec
from tests.serving import free_port

pytestmark = pytest.mark.slow


class Installed(NamedTuple):
    """An environment in which the wheel is installed, with the libraries of this one, and an empty folder to work in."""

    bin: Path
    folder: Path

    def run(self, *command: str, **named: object) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [str(self.bin / command[0]), *command[1:]], cwd=self.folder, env=clean(), capture_output=True, text=True, **named
        )
        assert done.returncode == 0, done.stderr
        return done


def clean() -> dict[str, str]:
    """The environment without what leads to the checkout."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "FROZENLAB", "NUMBA"))}
    return kept | {"OMP_NUM_THREADS": "1"}


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    if CHECKOUT is None:
        pytest.skip("there is no checkout to build a wheel from")
    place = tmp_path_factory.mktemp("wheel")
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"]
    subprocess.run([*pip, "wheel", "--no-deps", "--wheel-dir", str(place), str(CHECKOUT)], check=True, cwd=place, env=clean())
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(place / "venv")], check=True)
    (wheel,) = place.glob("*.whl")
    subprocess.run(
        [*pip, "--python", str(place / "venv" / "bin" / "python"), "install", "--no-deps", str(wheel)], check=True, cwd=place, env=clean()
    )
    (own,) = (place / "venv" / "lib").glob("python*/site-packages")
    libraries = sysconfig.get_path("purelib")
    (own / "libraries.pth").write_text(f"{libraries}\n")  # the path alone: the checkout's editable install stays out
    (place / "empty").mkdir()
    return Installed(place / "venv" / "bin", place / "empty")


def test_it_is_the_installed_package_that_runs(installed: Installed) -> None:
    look = "import frozenlab.base.places as p; from importlib.util import find_spec; print(p.CHECKOUT, find_spec('recipes'), p.ROOT)"
    where = installed.run("python", "-c", look).stdout.split()
    assert where[:2] == ["None", "None"] and Path(where[2]).is_relative_to(installed.bin.parent)


def test_its_bill_of_materials_is_in_its_metadata(installed: Installed) -> None:
    find = "from importlib.metadata import files; print(*[file.locate() for file in files('frozenlab') if 'sboms' in file.parts])"
    (bill,) = installed.run("python", "-c", find).stdout.split()
    assert Path(bill).read_bytes() == (CHECKOUT / "requirements" / "sbom.cdx.json").read_bytes()  # type: ignore[operator]


def test_it_solves(installed: Installed) -> None:
    board = installed.folder / "board.txt"
    board.write_text("S g F G s\nH H F H H\n")
    answer = json.loads(installed.run("frozenlab", "solve", str(board), "--json", timeout=300).stdout)
    assert answer["makespan"] == 5
    board.unlink()


def test_it_trains_a_session(installed: Installed) -> None:
    (installed.folder / "spec.json").write_text(short_spec().model_dump_json())
    answer = installed.run("frozenlab", "run", "spec.json", "--json", timeout=600).stdout
    assert json.loads(answer.splitlines()[-1])["status"] == "done"
    assert sorted(path.name for path in installed.folder.iterdir()) == ["sessions", "spec.json"]


VISIT = """
from streamlit.testing.v1 import AppTest
from frozenlab.base import places
app = AppTest.from_file(str(places.ROOT / "streamlit_app.py"), default_timeout=600).run()
for page in sorted((places.ROOT / "pages").glob("*.py")):
    app.switch_page(f"pages/{page.name}").run()
    assert not app.exception, (page, app.exception)
app.switch_page("pages/story.py")
app.query_params["session"] = "example-long"
app.run()
assert not app.exception and not app.warning, (app.exception, app.warning)
"""


def test_its_pages_open_and_recorded_sessions_are_there(installed: Installed) -> None:
    installed.run("python", "-c", VISIT, timeout=300)


def test_the_app_answers_with_our_own_settings(installed: Installed) -> None:
    port = free_port()
    server = subprocess.Popen([installed.bin / "frozenlab", "app", "--no-browser", "--port", str(port)], cwd=installed.folder, env=clean())
    try:
        for _ in range(600):
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=2) as reply:
                    assert "Content-Security-Policy" in reply.headers
                    break
            except OSError:
                assert server.poll() is None
                time.sleep(0.1)
        else:
            pytest.fail("the server did not answer within a minute")
    finally:
        subprocess.run(["pkill", "-f", f"server.port {port}"], check=False)
        server.wait(timeout=30)
