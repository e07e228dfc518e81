"""Ask people through nod, with nothing but the standard library.

    export NOD_URL=http://127.0.0.1:8787 NOD_TOKEN=...
    python3 nod.py ask "Which region?" eu us
    python3 nod.py approve "Drop the table?" '{"command": "psql -c \\"drop table x\\""}'
    python3 nod.py exchange langchain_hitl < interrupt.json
"""

import json
import os
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid


def _post(path, body, key, wait="25s"):
    """Send a request, and repeat it while the daemon restarts. The caller ID makes repeats safe."""
    url = os.environ.get("NOD_URL", "http://127.0.0.1:8787") + path
    url += ("&" if "?" in path else "?") + "wait=" + wait
    headers = {"Authorization": "Bearer " + os.environ["NOD_TOKEN"], "Content-Type": "application/json", "Nod-Caller": key}
    for attempt in range(60):
        try:
            with urllib.request.urlopen(urllib.request.Request(url, json.dumps(body).encode(), headers), timeout=60) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            if error.code < 500:
                raise RuntimeError(error.read().decode()) from None
        except (urllib.error.URLError, TimeoutError, ConnectionError):
            pass
        time.sleep(min(2**attempt * 0.1, 3))
    raise RuntimeError("the nod daemon is not reachable")


def request(body):
    """Ask, and return the record once it is closed. See docs/api.md for the body."""
    key = str(uuid.uuid4())
    while True:
        _, record = _post("/v1/interactions", body, key)
        if record["state"] != "pending" or record.get("queued"):
            return record


def ask(prompt, options=()):
    """Return the choice or the text; None if no one answered."""
    question = {"id": "q", "widget": "buttons" if options else "text", "options": [{"value": o} for o in options]}
    record = request({"prompt": prompt, "questions": [question]})
    return record["response"]["answers"]["q"] if record["state"] == "answered" else None


def approve(prompt, tool_input):
    """Return whether the request was approved. A timeout is not an approval."""
    record = request({"prompt": prompt, "approval": {"input": tool_input}})
    return record["state"] == "approved"


def exchange(dialect, message, **query):
    """Send a message in an agent's own format, and return the answer in the same format."""
    key = str(uuid.uuid4())
    path = "/v1/dialects/" + dialect + ("?" + urllib.parse.urlencode(query) if query else "")
    while True:
        status, answer = _post(path, message, key)
        if status != 202:  # 202 means that it is still pending
            return answer


if __name__ == "__main__":
    what, *args = sys.argv[1:]
    if what == "ask":
        print(ask(args[0], args[1:]))
    elif what == "approve":
        sys.exit(0 if approve(args[0], json.loads(args[1])) else 1)
    else:
        print(json.dumps(exchange(args[0], json.load(sys.stdin)), ensure_ascii=False))
