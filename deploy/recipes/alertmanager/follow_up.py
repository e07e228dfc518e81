"""Asks the person on call about each firing alert, and does what they choose."""

import hashlib
import json
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from nodbridge import Nod, NodError

nod = Nod()
CHOICES = ["silence for 1h", "restart the worker", "nothing"]
asked = set()  # notifications that this process has asked about
lock = threading.Lock()


def follow_up(group):
    # Alertmanager repeats a notification. The key finds the request of the first one.
    since = min(alert["startsAt"] for alert in group["alerts"])
    source = group["externalURL"] + group["groupKey"] + since
    key = "alert-" + hashlib.sha256(source.encode()).hexdigest()
    with lock:
        if key in asked:
            return
        asked.add(key)
    try:
        decide(group["commonLabels"].get("alertname", "several alerts"), key)
    except NodError as error:
        print("no answer:", error, flush=True)
        if error.code != "conflict":  # a conflict means that an earlier process got the answer
            asked.discard(key)  # the next notification asks again


def decide(name, key):
    question = {"id": "q", "widget": "buttons", "options": [{"value": c} for c in CHOICES]}
    body = {"prompt": "**%s** is firing. What should happen?" % name, "timeout": "1h", "questions": [question]}
    record = nod.request(body, key=key)
    if record["state"] != "answered":
        return
    choice = record["response"]["answers"]["q"]
    try:
        if choice == "silence for 1h":
            matcher = "alertname=" + name
            subprocess.run(["amtool", "silence", "add", matcher, "--duration=1h", "--comment=by nod"], check=True)
        elif choice == "restart the worker":
            subprocess.run(["systemctl", "restart", "worker"], check=True)
        nod.complete(record["interaction"]["id"], result="done")
    except (OSError, subprocess.CalledProcessError) as error:
        nod.complete(record["interaction"]["id"], error=str(error))


class FollowUp(BaseHTTPRequestHandler):
    def do_POST(self):
        group = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if group["status"] == "firing":
            threading.Thread(target=follow_up, args=(group,)).start()
        self.send_response(200)
        self.end_headers()


if __name__ == "__main__":
    ThreadingHTTPServer(("127.0.0.1", 9099), FollowUp).serve_forever()
