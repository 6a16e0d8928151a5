"""Surveys nobody has to trust: every person randomises their own answer."""
