"""What AsyncNod does on a loop of asyncio."""

from __future__ import annotations

import asyncio
import threading
from typing import Any, Callable, Optional

from ._client import Base, Blocking, finish, perform
from ._core import Call, Steps
from ._http import Line, Reply


class AsyncBase(Base):
    """The steps of a client for asyncio."""

    async def _perform(self, steps: Steps, deadline: Optional[float] = None) -> Any:
        return await perform(steps, deadline, OnLoop(self))


class OnLoop(Blocking):
    """Performs steps for a task. Each call has a thread, so that all loops work in the same way."""

    async def call(self, step: Call, limit: float) -> Reply:
        """Make a call. A cancelled one ends its connection."""
        line = Line()
        try:
            return await _in_thread("nod-call", lambda: self.blocking(step, limit, line))
        finally:
            line.end()

    async def sleep(self, seconds: float) -> None:
        """Pause."""
        await asyncio.sleep(seconds)

    async def farewell(self, steps: Steps) -> None:
        """Perform the steps of a caller that has given up: a cancelled scope runs no more calls itself."""
        await _in_thread("nod-farewell", lambda: finish(Blocking(self.base).farewell(steps)))


async def _in_thread(name: str, work: Callable[[], Any]) -> Any:
    """Do work in a thread of its own. Without a loop, return at once."""
    try:
        loop = asyncio.get_running_loop()
        done = loop.create_future()
    except RuntimeError:  # it was closed during the wait
        loop, done = None, None

    def settle(result: Any, error: Optional[BaseException]) -> None:
        if done and not done.done():
            done.set_exception(error) if error else done.set_result(result)

    def run() -> None:
        result, failed = None, None
        try:
            result = work()
        except BaseException as error:
            failed = error
        try:
            if loop:
                loop.call_soon_threadsafe(settle, result, failed)
        except RuntimeError:
            pass  # the loop has ended

    # The process waits for the thread of a farewell only.
    threading.Thread(target=run, name=name, daemon=name != "nod-farewell").start()
    return await done if done else None
