"""What a loss means: composition, conversion, calibration, and words for people."""
