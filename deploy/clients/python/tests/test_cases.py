"""Both clients against a server that misbehaves."""

import asyncio
import contextlib
import json
import math
import threading
import unittest
from concurrent.futures import ThreadPoolExecutor

import nodbridge
from server import CANONICAL, CASES, Server

REQUEST = CASES["request"]


async def maybe(value):
    return await value if asyncio.iscoroutine(value) else value


async def call(nod, case):
    """Make the call of a case, and return its outcome as a text."""
    extra = {"deadline": case["deadline"]} if "deadline" in case else {}
    approval = REQUEST["approval"]
    do = case.get("do", "approve")
    id = CASES["records"]["pending"]["interaction"]["id"]
    try:
        if do == "show":
            return (await maybe(nod.show(id)))["state"]
        if do == "wait":
            return (await maybe(nod.wait(id)))["state"]
        if do == "list":
            return (await maybe(nod.list()))["items"][0]["state"]
        if do == "messages":
            return (await maybe(nod.messages("ship")))[0]["text"]
        if do == "exchange":
            return json.dumps(await maybe(nod.exchange("x", {}, **extra)), separators=(",", ":"))
        if do == "ask":
            answer = await maybe(nod.ask("Which region?", ["eu", "us"], **extra))
            return "none" if answer is None else answer
        if do == "decide":
            decision = await maybe(nod.decide(REQUEST["prompt"], approval["input"], tool="deploy", edit=True, **extra))
            return "true " + json.dumps(decision.input, separators=(",", ":")) if decision else "false"
        answer = await maybe(nod.approve(REQUEST["prompt"], approval["input"], tool="deploy", **extra))
        return {True: "true", False: "false"}[answer]
    except nodbridge.NodError as error:
        return "error " + error.code


class Cases(unittest.TestCase):
    def check(self, client, case):
        other = Server({"answers": [{"record": "approved"}]})
        server = Server(case, other.url)
        try:
            nod = client(server.url, "token-of-the-agent", patience=0.8)
            self.assertEqual(asyncio.run(call(nod, case)), case["want"])
            self.assertEqual(len(server.keys), case.get("opens", 1), "one caller ID")
            self.assertEqual(other.hits, 0, "calls of another host")
            self.assertEqual(server.cancels, case.get("cancels", 0))
            if "posts" in case:
                self.assertEqual(server.posts, case["posts"])
        finally:
            server.close()
            other.close()

    def test_cases(self):
        self.assertGreaterEqual(len(CASES["cases"]), 36)
        plays = [(client, case) for client in (nodbridge.Nod, nodbridge.AsyncNod) for case in CASES["cases"]]
        with ThreadPoolExecutor(16) as pool:
            for (client, case), played in [(play, pool.submit(self.check, *play)) for play in plays]:
                with self.subTest(client=client.__name__, case=case["name"]):
                    played.result()

    def test_canonical(self):
        for row in CANONICAL:
            if "digest" in row:
                request = {"prompt": "Go?", "approval": {"tool": "t", "input": json.loads(row["json"])}}
                self.assertEqual(nodbridge.digest(request), row["digest"], row["json"])


class PlainLoop(asyncio.SelectorEventLoop):
    """A loop that knows only what uvloop knows, and a name whose first address is dead."""

    async def create_connection(self, factory, host=None, port=None, *, ssl=None, family=0, server_hostname=None):
        return await super().create_connection(
            factory, host, port, ssl=ssl, family=family, server_hostname=server_hostname
        )

    async def getaddrinfo(self, host, port, **more):
        found = await super().getaddrinfo(host, port, **more)
        return [(*entry[:4], (entry[4][0], 1)) for entry in found] + found if port != 1 else found


class Careless(unittest.TestCase):
    """Callers who pass what they should not, or leave when no one expects it."""

    def setUp(self):
        self.server = Server({"answers": [{"record": "pending"}]})
        self.addCleanup(self.server.close)

    def refuses(self, call):
        with self.assertRaises(nodbridge.NodError) as error:
            call(nodbridge.Nod(self.server.url, "token-of-the-agent", patience=0.8))
        self.assertEqual((error.exception.code, self.server.hits), ("invalid", 0))

    def test_values(self):
        for value in (b"x", {1: 2}, {"a": {1, 2}}, 2**53 + 1, 10**400, math.nan, object, "\ud800", iter([1])):
            self.refuses(lambda nod: nod.approve("Go?", {"x": value}))
        self.refuses(lambda nod: nod.ask("Go?", "yes"))
        self.refuses(lambda nod: nod.approve("Go?", {"x": 1}, key=5))

    def test_loops(self):
        server = Server({"answers": [{"record": "approved"}]})
        self.addCleanup(server.close)
        loop = PlainLoop()
        self.addCleanup(loop.close)
        nod = nodbridge.AsyncNod(server.url, "token-of-the-agent", patience=0.8)
        self.assertIs(loop.run_until_complete(nod.approve(REQUEST["prompt"], REQUEST["approval"]["input"], tool="deploy")), True)

    def test_closed_loop(self):
        nod = nodbridge.AsyncNod(self.server.url, "token-of-the-agent")

        async def begin():
            task = asyncio.ensure_future(nod.approve(REQUEST["prompt"], REQUEST["approval"]["input"], tool="deploy"))
            while self.server.hits < 2:
                await asyncio.sleep(0.01)
            return task

        loop = asyncio.new_event_loop()
        task = loop.run_until_complete(begin())
        loop.close()
        task._log_destroy_pending = False
        with contextlib.suppress(asyncio.CancelledError):
            task.get_coro().close()
        for thread in threading.enumerate():
            if thread.name == "nod-farewell":
                thread.join()
        self.assertEqual(self.server.cancels, 1)


if __name__ == "__main__":
    unittest.main()
