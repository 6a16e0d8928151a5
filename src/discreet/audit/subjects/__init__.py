"""What is attacked of the rooms below: mechanisms. Jobs through a curator are in `discreet.apps.audits`."""
