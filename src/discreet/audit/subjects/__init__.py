"""What is attacked of the rooms below: mechanisms and questions. Those of other rooms are in `discreet.apps.audits`."""
