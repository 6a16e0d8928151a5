"""The reference, made from the code itself: what is not documented there fails the build (`checks`)."""
