"""What the numbers of a benchmark were measured on."""

import os
import pathlib
import platform


def description():
    """Processor, cores, system and load at the moment."""
    info = pathlib.Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    model = next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), "unknown processor")
    return f"{model}, {os.cpu_count()} cores, {platform.system()}, load {os.getloadavg()[0]:.1f}"
