"""Asks the person on call about each firing alert, and does what they choose."""

import hashlib
import json
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from nodbridge import Nod, NodError

nod = Nod()
CHOICES = ["silence for 1h", "restart the worker", "nothing"]
seen = set()  # notifications of this process


def follow_up(group):
    name = group["commonLabels"].get("alertname", "several alerts")
    # Alertmanager repeats a notification. The key finds the request of the first one.
    since = min(alert["startsAt"] for alert in group["alerts"])
    key = "alert-" + hashlib.sha256((group["groupKey"] + since).encode()).hexdigest()
    if key in seen:
        return
    seen.add(key)
    question = {"id": "q", "widget": "buttons", "options": [{"value": c} for c in CHOICES]}
    body = {"prompt": "**%s** is firing. What should happen?" % name, "timeout": "1h", "questions": [question]}
    try:
        record = nod.request(body, key=key)
        if record["state"] != "answered" or "completion" in record:
            return  # no one answered, or it was done before a restart
        choice = record["response"]["answers"]["q"]
        nod.complete(record["interaction"]["id"], result="doing it")
    except NodError as error:
        print("no answer:", error, flush=True)
        return
    if choice == "silence for 1h":
        matcher = "alertname=" + name
        subprocess.run(["amtool", "silence", "add", matcher, "--duration=1h", "--comment=by nod"], check=True)
    elif choice == "restart the worker":
        subprocess.run(["systemctl", "restart", "worker"], check=True)


class FollowUp(BaseHTTPRequestHandler):
    def do_POST(self):
        group = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if group["status"] == "firing":
            threading.Thread(target=follow_up, args=(group,)).start()
        self.send_response(200)
        self.end_headers()


if __name__ == "__main__":
    ThreadingHTTPServer(("127.0.0.1", 9099), FollowUp).serve_forever()
