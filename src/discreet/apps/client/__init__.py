"""A curator that lives elsewhere: `discreet.connect(url, token)` has the same words as one opened here.

Asks are put together on this side, where no data is; prices and answers come from the server. To send them, only the
standard library is needed.
"""

from __future__ import annotations

from discreet.apps.client.curator import RemoteCurator, connect
from discreet.apps.client.desk import RemoteDesk
from discreet.apps.client.job import RemoteJob
from discreet.apps.client.offer import RemoteOffer

__all__ = ["RemoteCurator", "RemoteDesk", "RemoteJob", "RemoteOffer", "connect"]
