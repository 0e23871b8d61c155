"""How hard Hypothesis looks: HYPOTHESIS_PROFILE names a profile; without it `ci` under CI, else `dev`."""

import os

from hypothesis import settings

settings.register_profile("dev", max_examples=50, stateful_step_count=30, deadline=None)
settings.register_profile("ci", settings.get_profile("dev"), derandomize=True, print_blob=True)
settings.register_profile("deep", settings.get_profile("dev"), max_examples=2000, stateful_step_count=50)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE") or ("ci" if os.environ.get("CI") else "dev"))
