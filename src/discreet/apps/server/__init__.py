"""The curator over HTTP: for programs, and for people who will not write Python."""
