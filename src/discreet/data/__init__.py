"""Tables as they are stored and as they are declared, and the only place that opens them."""
