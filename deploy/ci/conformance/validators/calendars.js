// Expands calendars with ical.js. It reads a JSON array of calendars from standard
// input, and writes for each of them its events from 2026 to 2027: the summary,
// the start and the end, in seconds since 1970.
import { readFileSync } from 'node:fs';
import ICAL from 'ical.js';

const from = Date.UTC(2026, 0, 1) / 1000;
const to = Date.UTC(2027, 0, 1) / 1000;

// A time that the clock skips or shows twice is meant as before the change (RFC
// 5545, 3.3.5). ical.js takes the offset after the change for both.
function seconds(time) {
  const before = (seconds) => {
    const earlier = time.clone();
    earlier.adjust(0, 0, 0, -seconds);
    return earlier.utcOffset();
  };
  const change = Math.abs(time.utcOffset() - before(7200));
  return time.toUnixTime() + time.utcOffset() - before(change);
}

function expand(text) {
  const calendar = new ICAL.Component(ICAL.parse(text));
  ICAL.TimezoneService.reset();
  for (const zone of calendar.getAllSubcomponents('vtimezone')) {
    ICAL.TimezoneService.register(zone);
  }
  const out = [];
  const add = (event, start, end) => {
    const found = { who: event.summary, start: seconds(start), end: seconds(end) };
    if (found.end > from && found.start < to) out.push(found);
  };
  const all = calendar.getAllSubcomponents('vevent').map((event) => new ICAL.Event(event, { exceptions: [] }));
  const exceptions = all.filter((event) => event.isRecurrenceException());
  for (const event of all.filter((event) => !event.isRecurrenceException())) {
    for (const other of exceptions.filter((other) => other.uid === event.uid)) event.relateException(other);
    if (!event.isRecurring()) {
      add(event, event.startDate, event.endDate);
      continue;
    }
    const times = event.iterator();
    for (let time = times.next(); time && time.toUnixTime() < to; time = times.next()) {
      const { item, startDate, endDate } = event.getOccurrenceDetails(time);
      add(item, startDate, endDate);
    }
  }
  return out;
}

const calendars = JSON.parse(readFileSync(0, 'utf8'));
process.stdout.write(JSON.stringify(calendars.map(expand)));
