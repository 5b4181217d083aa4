"""Which folders the package ``frozenlab`` is made of; everything else about it is in pyproject.toml."""

from setuptools import find_packages, setup

setup(
    packages=["frozenlab", *(f"frozenlab.{package}" for package in find_packages("core"))],
    package_dir={"frozenlab": "core"},
    py_modules=["mapf_frozenlake"],
)
