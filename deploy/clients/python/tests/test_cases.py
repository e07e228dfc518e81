"""Both clients against a server that misbehaves."""

import asyncio
import contextlib
import itertools
import json
import math
import socket
import threading
import time
import unittest
from concurrent.futures import ThreadPoolExecutor
from unittest import mock

import nodbridge
from server import CANONICAL, CASES, Server

REQUEST = CASES["request"]


async def maybe(value):
    return await value if asyncio.iscoroutine(value) else value


async def call(client, case, server):
    """Make the call of a case, and return its outcome as a text."""
    url = case.get("url", "{url}").replace("{url}", server.url).replace("{host}", server.host)
    extra = {"deadline": case["deadline"]} if "deadline" in case else {}
    approval = REQUEST["approval"]
    do = case.get("do", "approve")
    id = CASES["records"]["pending"]["interaction"]["id"]
    try:
        nod = client(url, "token-of-the-agent", patience=3, window=case.get("window", 25))
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
        try:
            server = Server(case, other.url)
        except OSError:
            self.assertIn("host", case)
            return  # this machine does not have the address
        try:
            self.assertEqual(asyncio.run(call(client, case, server)), case["want"])
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
        # The wall clock jumps forward and back.
        jumps = itertools.cycle((3600, -3600))
        clock = time.time
        patched = mock.patch("time.time", lambda: clock() + next(jumps))
        plays = [(client, case) for client in (nodbridge.Nod, nodbridge.AsyncNod) for case in CASES["cases"]]
        with patched, ThreadPoolExecutor(16) as pool:
            for (client, case), played in [(play, pool.submit(self.check, *play)) for play in plays]:
                with self.subTest(client=client.__name__, case=case["name"]):
                    played.result()

    def test_canonical(self):
        for row in CANONICAL:
            if "digest" in row:
                request = {"prompt": "Go?", "approval": {"tool": "t", "input": json.loads(row["json"])}}
                self.assertEqual(nodbridge.digest(request), row["digest"], row["json"])


async def show(nod, id):
    return await maybe(nod.show(id))


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

    def test_dead_address(self):
        server = Server({"answers": [{"record": "approved"}]})
        self.addCleanup(server.close)
        find = socket.getaddrinfo

        def found(host, port, **more):
            all = find(host, port, **more)
            return [(*entry[:4], (entry[4][0], 1)) for entry in all] + all

        with mock.patch("socket.getaddrinfo", found):
            nod = nodbridge.Nod(server.url, "token-of-the-agent", patience=0.8)
            self.assertIs(nod.approve(REQUEST["prompt"], REQUEST["approval"]["input"], tool="deploy"), True)

    def test_proxy(self):
        """A proxy is used for what is not on this machine, and its failures are those of the way."""
        page, id = {"proxy": True, "type": "text/html", "text": "<html>"}, CASES["records"]["pending"]["interaction"]["id"]
        approved, refused = {"record": "approved"}, "the proxy 127.0.0.1 in HTTPS_PROXY reports status "
        for url, answers, no_proxy, want in (
            ("http://nod.invalid:81/nod", [approved], "", "approved"),
            ("http://nod.invalid:81/nod", [approved], "other.invalid,.invalid", "unreachable"),
            ("http://nod.invalid:81/nod", [{**page, "status": 407}, {**page, "status": 502}, approved], "", "approved"),
            ("https://nod.invalid", [{**page, "status": 407}], "", refused + "407"),
            ("https://nod.invalid", [{**page, "status": 502}], "", refused + "502"),
        ):
            for client in (nodbridge.Nod, nodbridge.AsyncNod):
                server = Server({"answers": answers})
                self.addCleanup(server.close)
                proxy = "http://user:pass%20word@" + server.host
                env = {"http_proxy": proxy, "https_proxy": proxy, "no_proxy": no_proxy}
                with self.subTest(url=url, want=want, client=client.__name__), mock.patch.dict("os.environ", env):
                    nod = client(url, "token-of-the-agent", patience=3 if want == "approved" else 0.8)
                    try:
                        got = asyncio.run(show(nod, id))["state"]
                    except nodbridge.NodError as error:
                        got = str(error)
                    self.assertIn(want, got)
                    self.assertEqual(server.hits > 0, not no_proxy)
                    for local in ("http://127.0.0.1:8787", "http://[::1]:8787", "http://localhost:1"):
                        self.assertIsNone(nodbridge.Nod(local, "token-of-the-agent").address.proxy)
        with mock.patch.dict("os.environ", {"https_proxy": "socks5://127.0.0.1:1"}):
            self.assertRaises(nodbridge.NodError, nodbridge.Nod, "https://nod.invalid", "token-of-the-agent")

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
