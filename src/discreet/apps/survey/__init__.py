"""Surveys nobody has to trust, served: a page that randomises in the browser, and a store of what it sends."""
