"""What the command line's help loads."""

import json
import subprocess
import sys

from tests.sim.command import ROOT

PROGRAM = """
import json, sys
from sim.__main__ import app
app(["--help"], standalone_mode=False)
print(json.dumps(sorted(sys.modules)))
"""


def test_help_comes_without_the_rooms_behind_it() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], cwd=ROOT, capture_output=True, text=True, check=True)
    loaded = set(json.loads(done.stdout.splitlines()[-1]))

    assert "sim.replay_command" in loaded
    assert not loaded & {"numpy", "pyarrow", "simpy", "pandas", "scipy", "torch", "msgspec", "xxhash"}
    assert not loaded & {"engine", "backends", "traces"}
    assert {name for name in loaded if name.startswith("analysis")} == {
        "analysis",
        "analysis.__main__",
        "analysis.errors",
    }
