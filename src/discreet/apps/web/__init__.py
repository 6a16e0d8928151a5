"""The curator in a browser: pages made here, nothing from the network, for people who will not write Python."""
