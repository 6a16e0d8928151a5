"""The demonstration: a small invented table, and what a curator does with it."""
