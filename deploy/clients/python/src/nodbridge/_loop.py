"""What AsyncNod does on a loop of asyncio."""

from __future__ import annotations

import asyncio
import threading
from typing import Any, Optional

from ._client import Base, Blocking, finish, perform
from ._core import Call, Steps
from ._http import Reply, call_async


class AsyncBase(Base):
    """The steps of a client for asyncio."""

    async def _perform(self, steps: Steps, deadline: Optional[float] = None) -> Any:
        return await perform(steps, deadline, OnLoop(self))


class OnLoop(Blocking):
    """Performs steps on the loop that runs."""

    async def call(self, step: Call, limit: float) -> Reply:
        """Make a call."""
        return await call_async(self.base.address, self.message(step), limit, self.base.context)

    async def sleep(self, seconds: float) -> None:
        """Pause."""
        await asyncio.sleep(seconds)

    async def farewell(self, steps: Steps) -> None:
        """Perform the steps of a caller that has given up, in a thread: a cancelled scope runs no more calls."""
        try:
            loop = asyncio.get_running_loop()
            done = loop.create_future()
        except RuntimeError:  # it was closed during the wait
            loop, done = None, None

        def leave() -> None:
            finish(Blocking(self.base).farewell(steps))
            try:
                if loop and done:
                    loop.call_soon_threadsafe(lambda: done.done() or done.set_result(None))
            except RuntimeError:
                pass  # the loop has ended

        threading.Thread(target=leave, name="nod-farewell").start()
        if done:
            await done
