# SPDX-License-Identifier: GPL-2.0-or-later
"""Where the tests of the upgrade find what they share with those of real clusters."""
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "e2e", "slurm"), os.path.join(HERE, "..")]
