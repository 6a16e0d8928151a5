"""The nouns every room shares."""
