"""What the package ``frozenlab`` is made of: the folder ``core``, and what the app shows. Everything else about it is in pyproject.toml."""

from pathlib import Path
from shutil import copy, rmtree

from setuptools import setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_py import build_py

SHOWN = ("streamlit_app.py", ".streamlit/config.toml", "pages/*.py", "assets/**/*", "sessions/example-*/**/*")
"""Files of the checkout that a wheel carries inside the package, under the same names; core/frozenlab/base/places.py finds them."""


class BuildWithShown(build_py):
    """Copies them; an editable install finds them where they are. Nothing of an earlier build goes along."""

    def run(self) -> None:
        if not self.editable_mode:
            rmtree(self.build_lib, ignore_errors=True)
        super().run()
        if not self.editable_mode:
            for path in (path for pattern in SHOWN for path in Path().glob(pattern)):
                if path.is_file() and path.name != "worker.log":
                    target = Path(self.build_lib, "frozenlab", path)
                    self.mkpath(str(target.parent))
                    self.copy_file(str(path), str(target))


class WheelWithBill(bdist_wheel):
    """Adds the bill of materials to the metadata, where PEP 770 says that tools look for it."""

    def write_wheelfile(self, wheelfile_base: str, *given: object, **named: object) -> None:
        super().write_wheelfile(wheelfile_base, *given, **named)
        boms = Path(wheelfile_base, "sboms")
        boms.mkdir(exist_ok=True)
        copy("requirements/sbom.cdx.json", boms / "frozenlab.cdx.json")


setup(
    package_data={"": ["*.js", "*.css", "*.html", "data/*"]},
    cmdclass={"build_py": BuildWithShown, "bdist_wheel": WheelWithBill},
    options={"build": {"build_base": ".cache/build"}},
)
