"""What several files of tests use."""

import os
import subprocess

import pytest

import lrgeo


@pytest.fixture(scope="session")
def city():
    """The demo city, coarse: 88 places."""
    return lrgeo.Map.demo(1000)


@pytest.fixture
def command(tmp_path):
    """Runs the command line in a folder of its own and returns what it prints."""
    binary = os.environ.get("LRGEO")
    if not binary:
        pytest.skip("LRGEO does not name the binary of lrgeo")

    def run(*arguments):
        done = subprocess.run([binary, *arguments], cwd=tmp_path, check=True, capture_output=True, text=True)
        return done.stdout

    run.binary = binary
    return run
