"""Questions: what may be asked, what it costs, and how an engine answers it."""
