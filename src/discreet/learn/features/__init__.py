"""Fixed features of images: made by formula, learned from nobody, so they cost nothing."""
