"""Both clients against the real daemon on the sandbox."""

import asyncio
import os
import signal
import subprocess
import sys
import threading
import time
import unittest

import nodbridge
from nodbridge import AsyncNod, Nod
from server import Daemon


class WithDaemon(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = Daemon()
        cls.agent, cls.person = (Nod(cls.daemon.url, t, patience=5) for t in (Daemon.agent, Daemon.person))

    @classmethod
    def tearDownClass(cls):
        cls.daemon.stop()

    def pending(self, text):
        """Return the pending request whose prompt has a text, once its card is posted."""
        for _ in range(400):
            for record in self.agent.list(state="pending", text=text)["items"]:
                if record.get("messages"):
                    return record["interaction"]["id"]
            time.sleep(0.02)
        raise AssertionError("no request with " + text)

    def while_asked(self, text, reply, call):
        """Make a call while a person answers its request."""
        out = {}

        def run():
            try:
                out["value"] = call()
            except BaseException as error:
                out["error"] = error

        thread = threading.Thread(target=run)
        thread.start()
        self.person.respond(self.pending(text), **reply)
        thread.join(20)
        if "error" in out:
            raise out["error"]
        return out["value"]

    def test_ask(self):
        call = lambda: self.agent.ask("Region 1", ["eu", "us"])  # noqa: E731
        answer = self.while_asked("Region 1", {"answers": {"q": "us"}}, call)
        self.assertEqual(answer, "us")
        text = self.while_asked("Name 1", {"answers": {"q": "billing"}}, lambda: self.agent.ask("Name 1"))
        self.assertEqual(text, "billing")
        self.assertIsNone(self.agent.ask("Nobody 1", ["a", "b"], timeout="1s"))

    def test_approve(self):
        numbers = [1, 2.5, 1e21, 1e-7, -0.0, 2**53, 1e16]
        input = {"command": "rm -rf /x", "n": numbers, "é": "€\u2028\"\\\n", "\U0001f600": None, "\ufb33": 1}
        for decision, want in (("once", True), ("deny", False)):
            call = lambda: self.agent.approve("Approve " + decision, input, tool="shell", where="prod")  # noqa: E731
            self.assertIs(self.while_asked("Approve " + decision, {"decision": decision}, call), want)
        self.assertIs(self.agent.approve("Approve late", input, timeout="1s"), False)
        bare = lambda: self.agent.approve("Approve bare")  # noqa: E731
        self.assertIs(self.while_asked("Approve bare", {"decision": "once"}, bare), True)

    def test_edit(self):
        call = lambda: self.agent.decide("Edit me", {"version": 2, "f": 1.5}, tool="deploy", edit=True)  # noqa: E731
        decision = self.while_asked("Edit me", {"decision": "edit", "input": {"version": 3}}, call)
        self.assertTrue(decision)
        self.assertEqual((decision.input, decision.edited, decision.scope), ({"version": 3}, True, "once"))
        decision = self.while_asked("Edit me", {"decision": "deny_reason", "reason": "not now"}, call)
        self.assertFalse(decision)
        self.assertEqual((decision.state, decision.reason), ("denied", "not now"))

    def test_redacted(self):
        secret = {"header": "Authorization: Bearer sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCD"}
        call = lambda: self.agent.approve("Call the API", secret, tool="http")  # noqa: E731
        self.assertIs(self.while_asked("Call the API", {"decision": "once", "confirm": "hidden"}, call), True)

    def test_receipt(self):
        call = lambda: self.agent.decide("Receipt 1", {"a": 1}, tool="t")  # noqa: E731
        record = self.while_asked("Receipt 1", {"decision": "once"}, call).record
        self.assertEqual(self.daemon.verify(record), 0)
        self.assertEqual(self.daemon.verify({**record, "state": "denied"}), 6)

    def test_form(self):
        questions = [{"widget": "text", "text": "Name"}, {"widget": "number", "text": "Count"}]
        body = {"prompt": "Form 1", "questions": questions}
        form = self.while_asked("Form 1", {"answers": {"q1": "é", "q2": 2}}, lambda: self.agent.request(body))
        self.assertEqual(form["response"]["answers"], {"q1": "é", "q2": 2})

    def test_life(self):
        record = self.agent.open({"prompt": "Life 1", "session": "life"}, key="life-1")
        id = record["interaction"]["id"]
        again = self.agent.open({"prompt": "Life 1", "session": "life"}, key="life-1")
        self.assertEqual(again["interaction"]["id"], id)
        with self.assertRaises(nodbridge.Refused) as conflict:
            self.agent.open({"prompt": "Life 2", "session": "life"}, key="life-1")
        self.assertEqual(conflict.exception.code, "conflict")
        self.assertEqual(self.agent.show(id)["state"], "pending")
        page = self.agent.list(session="life", limit=1)
        self.assertEqual([r["interaction"]["id"] for r in page["items"]], [id])
        self.assertTrue(self.agent.availability(session="life")["available"])
        self.assertTrue(self.agent.defer(id, hold="1h", message="later")["queued"])
        self.person.respond(id, answers={"q1": "yes"})
        late = self.agent.messages("life", wait=5)
        self.assertEqual(late[0]["record"]["response"]["answers"], {"q1": "yes"})
        self.agent.acknowledge("life", late[-1]["id"])
        self.assertEqual(self.agent.messages("life"), [])
        self.agent.complete(id, result="done")
        call = lambda: self.agent.reprompt(id, {"prompt": "Life again", "session": "life"})  # noqa: E731
        self.assertEqual(self.while_asked("Life again", {"answers": {"q1": "no"}}, call)["state"], "answered")
        self.assertEqual(self.agent.cancel(id)["state"], "answered")
        self.agent.open({"prompt": "Life 3", "session": "life"})
        self.assertEqual(len(self.agent.cancel_session("life", "enough")["items"]), 1)
        with self.assertRaises(nodbridge.Refused) as gone:
            self.agent.show("0193b3c4-7d5e-7a10-8f00-2b6d0c9e4f03")
        self.assertEqual(gone.exception.code, "not_found")

    def test_sessions(self):
        notice = self.agent.notify("Started", session="ship")
        self.assertEqual(notice["interaction"]["kind"], "notice")
        self.agent.open({"prompt": "Steer 1", "session": "ship"})
        self.agent.report_session("ship", {"state": "working", "title": "Ship it"})
        self.pending("Steer 1")
        sent = self.person.steer("ship", "Use port 8080")
        got = self.agent.messages("ship", wait=5, reader="test", lease="10s")
        self.assertEqual(got[0]["steering"]["text"], "Use port 8080")
        self.agent.acknowledge("ship", got[-1]["id"])
        self.assertEqual(self.person.steering("ship", sent["id"])["fate"], "delivered")
        self.assertEqual(self.agent.stop("ship")[0]["session"], "ship")
        self.assertIn("ship", [s["id"] for s in self.agent.sessions()])
        self.assertIs(self.agent.approve("Stopped?", {"a": 1}, session="ship"), False)
        self.assertEqual(self.person.resume("ship")[0]["session"], "ship")

    def test_grants(self):
        call = lambda: self.agent.approve("Grant 1", {"a": 1}, tool="g", session="granted")  # noqa: E731
        self.assertIs(self.while_asked("Grant 1", {"decision": "session"}, call), True)
        self.assertIs(call(), True)  # without a person
        grants = self.agent.grants("granted")
        self.person.revoke(grants[0]["id"])
        self.assertEqual(self.agent.grants("granted"), [])

    def test_exchange(self):
        message = {
            "action_requests": [{"name": "mail", "args": {"to": "a"}}],
            "review_configs": [{"action_name": "mail", "allowed_decisions": ["approve", "reject"]}],
        }
        call = lambda: self.agent.exchange("langchain_hitl", message, session="mail")  # noqa: E731
        answer = self.while_asked("mail", {"decision": "once"}, call)
        self.assertEqual(answer, {"decisions": [{"type": "approve"}]})
        self.assertEqual(self.agent.health()["status"], "ok")
        self.assertEqual(self.agent.ready()["status"], "ok")

    def test_deadline(self):
        with self.assertRaises(nodbridge.DeadlineExceeded):
            self.agent.approve("Deadline 1", {"a": 1}, deadline=0.5)
        self.assertEqual(self.agent.list(text="Deadline 1")["items"][0]["state"], "cancelled")

    def test_interrupt(self):
        code = (
            "import signal; from nodbridge import Nod\n"
            "signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # a job in the background ignores it
            "Nod().approve('Interrupt 1', {'a': 1})"
        )
        env = {**os.environ, "NOD_URL": self.daemon.url, "NOD_TOKEN": Daemon.agent}
        with subprocess.Popen([sys.executable, "-c", code], env=env, stderr=subprocess.PIPE) as child:
            id = self.pending("Interrupt 1")
            child.send_signal(signal.SIGINT)
            self.assertIn(b"KeyboardInterrupt", child.communicate(timeout=20)[1])
        self.assertNotEqual(child.returncode, 0)
        self.assertEqual(self.agent.show(id)["state"], "cancelled")

    def test_bad_arguments(self):
        for wrong in (float("nan"), {"a": object()}, "\ud800", 2**53 + 1):
            with self.assertRaises(nodbridge.NodError) as invalid:
                self.agent.approve("Wrong", {"x": wrong})
            self.assertEqual(invalid.exception.code, "invalid")
        for url in ("ftp://x", "http://", "http://user@host", "nonsense"):
            with self.assertRaises(nodbridge.NodError):
                Nod(url, "token")
        with self.assertRaises(nodbridge.NodError):
            Nod(self.daemon.url, "token\r\nX: y")
        with self.assertRaises(nodbridge.Refused) as unknown:
            self.agent.ask("Wrong", timout="5m")
        self.assertEqual(unknown.exception.code, "invalid")
        with self.assertRaises(nodbridge.NodError):
            self.agent.show("../keys")

    def test_limits(self):
        for size, code in ((200_000, ""), (300_000, "invalid"), (2_000_000, "invalid"), (50_000_000, "invalid")):
            for client in (self.agent, AsyncNod(self.daemon.url, Daemon.agent, patience=5)):
                body = {"prompt": "Limit", "approval": {"tool": "t", "input": {"a": "x" * size}}}
                try:
                    record = client.open(body)
                    record = asyncio.run(record) if asyncio.iscoroutine(record) else record
                    self.agent.cancel(record["interaction"]["id"])
                    self.assertEqual(code, "", size)
                except nodbridge.NodError as error:
                    self.assertEqual(error.code, code, size)

    def test_asyncio(self):
        async def scene():
            nod = AsyncNod(self.daemon.url, Daemon.agent)
            asks = [asyncio.create_task(nod.approve("Async %d" % n, {"n": n}, tool="t")) for n in range(3)]
            for n in range(3):
                id = await asyncio.to_thread(self.pending, "Async %d" % n)
                await asyncio.to_thread(lambda: self.person.respond(id, decision="once" if n else "deny"))
            self.assertEqual(await asyncio.gather(*asks), [False, True, True])
            task = asyncio.create_task(nod.approve("Async cancelled", {"n": 9}))
            id = await asyncio.to_thread(self.pending, "Async cancelled")
            task.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await task
            self.assertEqual((await nod.show(id))["state"], "cancelled")

        asyncio.run(scene())


if __name__ == "__main__":
    unittest.main()
