-- Every script begins with this file; see scripts.go.
-- Scripts that change an interaction take these keys:
-- KEYS 1 record
--      2 deadlines
--      3 outbox
--      4 jobs
--      5 journal
--      6 nodes with waiters, by expiry
--      7 late answers
--      8 number of pending requests of each limited agent
-- A call of Redis costs about 5 µs, most of it before the command runs, so
-- scripts avoid every call that they do not need.
-- A record is a hash. Its fields are those of recordFields of record.go:
--   req  JSON    the interaction as it was opened
--   cur  JSON    the interaction as it was changed since
--   c    packed  the values that scripts read of every record; see pack
--   st   text    the final state; absent while it is pending
--   at   ms      when it was resolved
--   res  JSON    the response
--   n    text    the nonce of the settlement that won
--   nw   flag    no one waited for the response when it came
--   to   JSON    the response at the deadline
--   tq   JSON    the response at the end of the hold
--   se   text    the session
--   x    JSON    the correlation ids of its events
--   cl   list    the callers that wait, '*' for one without an ID; see mark.lua
--   w    list    the channels of the daemons whose callers wait
--   q    ms      when it was deferred
--   hq   text    the proof of the length of its hold
--   sn   ms      when the response was first sent to a caller
--   sc   text    the caller that got it, if no other may
--   dv   ms      when the response was delivered to the agent
--   co   JSON    the result that the agent reported
--   rev  number  the number of changes that its messages show
--   jn   number  the number of duplicates that joined it
--   av   number  the number of amendments
--   sp   number  the next step of its escalation
--   rn   number  the number of reminders
--   vs   votes   the votes so far; see vote.lua
--   an   id      its entry in the journal
--   rt   id      the first round, whose messages show this one
--   nx   id      the next round
--   hd   id      the last round, on the first
--   m#   JSON    the message at a destination
--   f#   text    the reason that a destination could not be reached
--   l#   ms      when a rate-limited destination is expected to be posted to
--   s#   text    the digest of the content that a destination shows in full
--   p#   lines   the digest of the content being sent, and each part sent so far
--   r#   JSON    a reminder
local call, attempt, format = redis.call, redis.pcall, string.format -- looked up once, because lookups are expensive
local T = call('TIME')
local now = T[1] * 1000 + math.floor(T[2] / 1000)

-- The channel of the daemon that runs the script, if that daemon wakes its own
-- callers.
local own = nil

-- Set by a script that resolves many interactions, to remove their deadlines at
-- once: their IDs.
local all = nil

local function ms(n) return format('%d', n) end -- '%.0f' takes a microsecond

-- Appends a transition to the journal: an event that is also an entry of the
-- audit log, of the type audit, or '' if it is only an event.
-- All entries have the same fields in the same order, because a stream then
-- stores their names once. Returns the ID of the entry.
local function journal(r, kind, state, data, audit)
  return call('XADD', KEYS[5], '*', 't', kind, 'i', r.id, 'a', r.ag, 's', r.se, 'st', state, 'x', r.x or '', 'k', audit, 'd', data)
end

-- Appends an event. That of an opening has no data: it is in the record, where
-- it does not change.
local function event(r, kind, state, data) journal(r, kind, state, data, '') end
