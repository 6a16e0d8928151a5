"""discreet: discrete noise, discreet answers."""

__version__ = "0.1.0"
