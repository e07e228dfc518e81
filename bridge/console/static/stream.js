// The events of the daemon, in one stream for all tabs: a browser has few
// connections to a host. The visible tab that holds the lock reads the stream and
// tells the others. Hidden tabs read nothing.

const silence = 20000; // milliseconds; the daemon writes every 15 s
const longest = 10000; // between two tries
const channel = new BroadcastChannel("nod-events");
let stop = null; // ends the part of this tab
let leads = false; // this tab reads the stream
let cursor = ""; // after the last event

// watch calls late once nothing was heard for too long by the clock, which goes on
// while a device sleeps. Its timers do not.
function watch(late) {
  let at = Date.now();
  const timer = setInterval(() => Math.abs(Date.now() - at) > silence && late(), 1000);
  return { hear: () => (at = Date.now()), end: () => clearInterval(timer) };
}

// follow calls changed after each event, and live with whether the stream is
// known to be open. The page has to be fetched whenever it opens, because events
// may have been missed. A hidden tab is not live.
export function follow(changed, live) {
  let open = false;
  const set = (now) => {
    if (open !== now) live((open = now));
  };
  const quiet = watch(() => set(false));
  const heard = (m) => {
    quiet.hear();
    cursor = m.cursor || cursor;
    if (m.open || open) set(m.open);
    else live(false); // the next try has failed as well
    if (m.event) changed();
  };
  const tell = (m) => {
    heard(m);
    channel.postMessage(m);
  };
  const begin = () => {
    const end = new AbortController();
    stop = () => end.abort();
    const read = async () => {
      leads = true;
      await keepReading(tell, end.signal);
      leads = false;
    };
    if (navigator.locks) navigator.locks.request("nod-events", { signal: end.signal }, read).catch(() => {});
    else read(); // a page without https; each visible tab has a stream
    channel.postMessage({ hello: true });
    changed(0);
  };
  const see = () => {
    end();
    if (document.visibilityState === "hidden") set(false);
    else begin();
  };
  channel.onmessage = (e) => {
    if (!e.data.hello) return document.visibilityState === "hidden" || heard(e.data);
    if (leads && open) channel.postMessage({ open, cursor });
  };
  document.onvisibilitychange = see;
  addEventListener("online", see);
  see();
  return () => {
    end();
    quiet.end();
    channel.onmessage = document.onvisibilitychange = null;
    removeEventListener("online", see);
  };
}

function end() {
  if (stop) stop();
  stop = null;
}

// keepReading opens the stream again after every failure.
async function keepReading(tell, signal) {
  for (let pause = 500; !signal.aborted; pause = Math.min(2 * pause, longest)) {
    try {
      await read(signal, (m) => {
        pause = 500;
        tell(m);
      });
    } catch {
      // the next try may succeed
    }
    if (signal.aborted) return;
    tell({ open: false });
    await new Promise((done) => {
      setTimeout(done, pause * (0.5 + Math.random() / 2));
      signal.addEventListener("abort", done);
    });
  }
}

// read reads one stream until it ends or falls silent.
async function read(signal, tell) {
  const own = new AbortController();
  const stop = () => own.abort();
  signal.addEventListener("abort", stop);
  const quiet = watch(stop);
  try {
    const response = await fetch("/v1/events" + (cursor ? "?after=" + encodeURIComponent(cursor) : ""), {
      headers: { Accept: "text/event-stream" }, cache: "no-store", signal: own.signal,
    });
    if (response.status === 400) cursor = ""; // from before a new Redis
    if (!response.ok || !(response.headers.get("content-type") || "").startsWith("text/event-stream")) return;
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      quiet.hear();
      const parts = (text + value).split("\n\n");
      text = parts.pop();
      for (const part of parts) {
        const id = /^id: (.*)$/m.exec(part);
        tell({ open: true, cursor: id && id[1], event: /^event: /m.test(part) });
      }
    }
  } finally {
    quiet.end();
    own.abort();
    signal.removeEventListener("abort", stop);
  }
}
