"""What of a table does not fit its schema: for the custodian, who may see the data. Nothing here is private.

No release uses it, and no page that anyone but a custodian may open. It opens nothing itself, and is handed a
connection by `discreet.curator.inspection`.
"""

from __future__ import annotations

from discreet.data.inspection.columns import inspect_columns
from discreet.data.inspection.file import inspect_files
from discreet.data.inspection.finding import Finding
from discreet.data.inspection.persons import inspect_persons
from discreet.data.inspection.types import guess_types

__all__ = ["Finding", "guess_types", "inspect_columns", "inspect_files", "inspect_persons"]
