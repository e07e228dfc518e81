"""Both clients against a server that misbehaves."""

import asyncio
import json
import unittest

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
            return json.dumps(await maybe(nod.exchange("x", {})), separators=(",", ":"))
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
        for client in (nodbridge.Nod, nodbridge.AsyncNod):
            for case in CASES["cases"]:
                with self.subTest(client=client.__name__, case=case["name"]):
                    self.check(client, case)

    def test_canonical(self):
        for row in CANONICAL:
            if "digest" in row:
                request = {"prompt": "Go?", "approval": {"tool": "t", "input": json.loads(row["json"])}}
                self.assertEqual(nodbridge.digest(request), row["digest"], row["json"])


if __name__ == "__main__":
    unittest.main()
