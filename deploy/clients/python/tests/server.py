"""A server that misbehaves as a case of cases.json says, and a sandboxed daemon."""

import json
import os
import re
import socket
import subprocess
import tempfile
import threading
import time
import urllib.request
from pathlib import Path

TABLES = Path(__file__).resolve().parents[2]
CASES = json.loads((TABLES / "cases.json").read_text("utf-8"))
CANONICAL = json.loads((TABLES / "canonical.json").read_text("utf-8"))


def body(answer):
    """Return the body of an answer."""
    if "record" not in answer:
        return answer.get("text", "").encode()
    record = json.loads(json.dumps(CASES["records"][answer["record"]]))
    for path, value in answer.get("set", {}).items():
        *parents, last = path.split(".")
        at = record
        for name in parents:
            at = at[name]
        at[last] = value
    text = json.dumps(record, ensure_ascii=False, separators=(",", ":"))
    if "replace" in answer:
        old, new = answer["replace"]
        text = text + new if old == "$" else text.replace(old, new)
        return text.encode().replace(b"\\xff", b"\xff")
    return text.encode()[: answer.get("keep")]


class Server:
    """Answers calls in the order of the case. The last answer repeats."""

    def __init__(self, case, other=""):
        self.case, self.other = case, other
        self.posts, self.cancels, self.hits, self.keys = 0, 0, 0, set()
        host = case.get("host", "127.0.0.1")
        six = ":" in host
        self.listener = socket.create_server((host, 0), family=socket.AF_INET6 if six else socket.AF_INET)
        self.host = ("[%s]:%d" if six else "%s:%d") % (host, self.listener.getsockname()[1])
        self.url = "http://" + self.host
        self.held = []
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection):
        data = b""
        while b"\r\n\r\n" not in data:
            data += connection.recv(65536) or b"\r\n\r\n"
        head, _, rest = data.partition(b"\r\n\r\n")
        length = re.search(rb"content-length: (\d+)", head.lower())
        while length and len(rest) < int(length[1]):
            rest += connection.recv(65536)
        first = head.split(b"\r\n")[0].decode()
        if "/cancel" in first:
            self.cancels += 1
            answer = {"record": "cancelled"}
        else:
            answers = self.case["answers"]
            answer = answers[min(self.hits, len(answers) - 1)]
            self.hits += 1
        if first.startswith("POST %s/v1/interactions " % self.case.get("under", "")):
            self.posts += 1
            self.keys.add(re.search(rb"nod-caller: (\S+)", head.lower())[1])
        self.held.append(connection)
        data, pace = self.bytes(answer), answer.get("pace", 0)
        try:
            while data and pace:
                connection.sendall(data[:100])
                time.sleep(pace)
                data = data[100:]
            connection.sendall(data)
        except OSError:
            pass  # the client is gone
        if not answer.get("hang"):
            connection.close()

    def bytes(self, answer):
        if "bytes" in answer or "drop" in answer or ("hang" in answer and "cut" not in answer):
            return answer.get("bytes", "").encode()
        content = body(answer) + b" " * answer.get("pad", 0)
        headers = {"Content-Type": answer.get("type", "application/json"), "Content-Length": len(content)}
        if not answer.get("proxy"):
            headers["Nod-Daemon"] = "test"
        headers.update(answer.get("headers", {}))
        if answer.get("chunked"):
            del headers["Content-Length"]
            headers["Transfer-Encoding"] = "chunked"
            content = b"%x\r\n%s\r\n%x\r\n%s\r\n0\r\n\r\n" % (100, content[:100], len(content) - 100, content[100:])
        lines = ["HTTP/1.1 %d x" % answer.get("status", 200)] + ["%s: %s" % h for h in headers.items()]
        return (answer.get("before", "") + "\r\n".join(lines) + "\r\n\r\n").replace("{other}", self.other).encode() + content[: answer.get("cut")]

    def close(self):
        self.listener.close()
        for connection in self.held:
            connection.close()


class Daemon:
    """The real daemon on the sandbox, and a person."""

    agent, person = "token-of-the-agent-in-these-tests", "token-of-the-person-in-these-tests"

    def __init__(self):
        binary = os.environ["NOD_BINARY"]
        self.directory = tempfile.TemporaryDirectory()
        sandbox = [binary, "sandbox", "--listen", "127.0.0.1:0", "--no-limits"]
        self.sandbox = subprocess.Popen(sandbox, stdout=subprocess.PIPE, text=True)
        base = self.sandbox.stdout.readline().split()[1].rstrip("/")
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        self.url = "http://127.0.0.1:%d" % port
        config = Path(self.directory.name) / "nod.yaml"
        config.write_text(
            "listen: 127.0.0.1:%d\nlog_level: error\n"
            'sandbox: %s\ntelegram: {bot_token: "7000:sandbox-telegram-token"}\n'
            'people: {ana: {telegram: "7001", token: %s}}\n'
            'routes: {default: {to: ["telegram:-1001000000001"], responders: [ana], sessions: true}}\n'
            "agents: {tester: {token: %s}}\n" % (port, base, self.person, self.agent)
        )
        self.process = subprocess.Popen([binary, "serve", "--dev", "--config", str(config)])
        for _ in range(600):
            try:
                urllib.request.urlopen(self.url + "/readyz", timeout=5).close()
                return
            except OSError:
                time.sleep(0.05)
        raise RuntimeError("the daemon did not start")

    def verify(self, record):
        """Return the exit code of nod receipt verify for a record."""
        binary, keys = os.environ["NOD_BINARY"], Path(self.directory.name) / "keys.json"
        env = {**os.environ, "NOD_URL": self.url, "NOD_TOKEN": self.agent}
        keys.write_bytes(subprocess.run([binary, "receipt", "keys"], env=env, stdout=subprocess.PIPE, check=True).stdout)
        command = [binary, "receipt", "verify", "--keys", str(keys)]
        return subprocess.run(command, input=json.dumps(record).encode(), capture_output=True).returncode

    def stop(self):
        for process in (self.process, self.sandbox):
            process.terminate()
            process.wait()
        self.sandbox.stdout.close()
        self.directory.cleanup()
