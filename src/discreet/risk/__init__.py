"""Why removing names is not enough: anonymity measured, and attacked."""
