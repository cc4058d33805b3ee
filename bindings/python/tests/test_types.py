"""The types: complete, true, and enough for strict programs."""

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("mypy")

HERE = Path(__file__).parent


def run(*arguments):
    done = subprocess.run([sys.executable, "-m", *arguments], capture_output=True, text=True, cwd=HERE)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_stub_says_what_is_there_and_nothing_else():
    run("mypy.stubtest", "lrgeo._lrgeo")


def test_the_tutorial_and_the_package_are_strictly_typed():
    run("mypy", "--strict", "tutorial.py")
    run("mypy", "--strict", "-p", "lrgeo")
