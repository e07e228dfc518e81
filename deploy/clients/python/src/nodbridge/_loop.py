"""What AsyncNod does on a loop of asyncio."""

from __future__ import annotations

import asyncio
import threading
import time
from typing import Any, Optional

from ._client import Base
from ._core import Call, Farewell, Steps
from ._errors import DeadlineExceeded
from ._http import Lost, call_async


class AsyncBase(Base):
    """The steps of a client for asyncio."""

    async def _perform(self, steps: Steps, deadline: Optional[float] = None) -> Any:
        end = None if deadline is None else time.monotonic() + deadline
        value: Any = None
        error: Optional[BaseException] = None
        while True:
            try:
                step = steps.throw(error) if error is not None else steps.send(value)
                value, error = None, None
                value = await self._await(step, end)
            except StopIteration as stop:
                return stop.value
            except BaseException as raised:
                if steps.gi_frame is None:  # the steps have ended with it
                    raise
                error, end = raised, None if isinstance(raised, DeadlineExceeded) else end
                if isinstance(raised, GeneratorExit):  # the loop is gone
                    error = asyncio.CancelledError()

    async def _await(self, step: Any, end: Optional[float]) -> Any:
        if isinstance(step, Farewell):
            await self._apart(step.steps)
            return None
        left = float("inf") if end is None else end - time.monotonic()
        if left <= 0:
            raise DeadlineExceeded()
        if not isinstance(step, Call):
            await asyncio.sleep(min(step.seconds, left))
            return None
        try:
            return await call_async(self.address, self.message(step), min(step.limit, left), self.context)
        except Lost:
            if end is not None and time.monotonic() >= end:
                raise DeadlineExceeded() from None
            raise

    async def _apart(self, steps: Steps) -> None:
        """Perform the steps of a caller that has given up, in a thread: a cancelled scope runs no more calls."""
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:  # it was closed during the wait
            threading.Thread(target=self._farewell, args=(steps,), name="nod-farewell").start()
            return
        done = loop.create_future()

        def leave() -> None:
            self._farewell(steps)
            try:
                loop.call_soon_threadsafe(lambda: done.done() or done.set_result(None))
            except RuntimeError:
                pass  # the loop has ended

        threading.Thread(target=leave, name="nod-farewell").start()
        await done
