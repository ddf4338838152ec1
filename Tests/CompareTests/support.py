"""The modules of the comparison, for its tests."""

import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / folder) for folder in ("scripts/compare", "scripts/common", "clients/python")]
