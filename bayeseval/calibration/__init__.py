"""Whether intervals hold what they promise: simulated data whose truth is known, and how often the interval has it.

`calibrate` draws the truth from a model's prior, where any right computation covers exactly (simulation-based
calibration). `bayeseval.calibration.coverage` fixes the truth, inside and outside the model's family, where coverage
is a property to be found out.
"""

from __future__ import annotations

from bayeseval.calibration.bands import Band, simultaneous_band
from bayeseval.calibration.ranks import Calibration, calibrate
from bayeseval.calibration.simulation import Truths, simulate

__all__ = ["Band", "Calibration", "Truths", "calibrate", "simulate", "simultaneous_band"]
