-- Every script begins with this file.
-- Scripts that change an interaction take these keys:
-- KEYS 1 record
--      2 deadlines
--      3 outbox
--      4 jobs
--      5 events
--      6 nodes with waiters, by expiry
--      7 late answers
--      8 audit log
--      9 its head
--      10 number of pending requests of each limited agent
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
--   esc  JSON    the interaction once escalated; absent unless it will escalate
--   en   number  the number of destinations once escalated
--   et   number  its timeout once escalated, in ms
--   es   ms      when it was escalated
--   se   text    the session
--   x    JSON    the correlation ids of its events
--   w    list    the channels of the daemons whose callers wait
--   q    ms      when it was deferred
--   hq   text    the proof of the length of its hold
--   dv   ms      when the response was delivered to the agent
--   co   JSON    the result that the agent reported
--   rev  number  the number of changes that its messages show
--   jn   number  the number of duplicates that joined it
--   av   number  the number of amendments
--   sp   number  the next step of its escalation
--   rn   number  the number of reminders
--   vs   votes   the votes so far; see vote.lua
--   an   number  the number of its entry in the audit log
--   al   text    the link of that entry
--   b    id      the first of its batch, whose messages show this one
--   bm   list    all members of the batch, on the first
--   rt   id      the first round, whose messages show this one
--   nx   id      the next round
--   hd   id      the last round, on the first
--   m#   JSON    the message at a destination
--   f#   text    the reason that a destination could not be reached
--   l#   ms      when a rate-limited destination is expected to be posted to
--   s#   text    the digest of the content that a destination shows in full
--   p#   lines   the digest of the content being sent, and each part sent so far
--   r#   JSON    a reminder
local call, format = redis.call, string.format -- looked up once, because lookups are expensive
local T = call('TIME')
local now = T[1] * 1000 + math.floor(T[2] / 1000)

-- The channel of the daemon that runs the script, if that daemon wakes its own
-- callers.
local own = nil

-- Set by a script that resolves many interactions, to do two things once for
-- all: the IDs whose deadlines are removed, and the head of the audit log.
local all = nil

local function ms(n) return format('%d', n) end -- '%.0f' takes a microsecond

-- A stored job is attempt|fence|generation|created|leased_until, under the name
-- kind:interaction:destination. A job that no worker has leased yet is only in
-- the outbox.
local function job_parse(s)
  local a, f, g, c, l = string.match(s, '^(%d+)|(%d+)|(%d+)|(%d+)|(%d+)')
  return {attempt = tonumber(a), fence = tonumber(f), gen = tonumber(g), created = c, lease = tonumber(l)}
end

local function job_pack(j)
  return format('%d|%d|%d|%s|%d', j.attempt, j.fence, j.gen, j.created, j.lease)
end

-- Adds a job that cannot exist yet.
local function add_job(kind, id, dest, due) call('ZADD', KEYS[3], ms(due), kind .. ':' .. id .. ':' .. dest) end

-- Requests a job. A job that is being worked on stays leased and is repeated
-- when that work ends, so that two workers never edit one message at the same
-- time.
local function enqueue(kind, id, dest, due)
  local name = kind .. ':' .. id .. ':' .. dest
  local cur = call('HGET', KEYS[4], name)
  if not cur then return add_job(kind, id, dest, due) end
  local j = job_parse(cur)
  j.gen = j.gen + 1
  if j.lease <= now and j.attempt == 0 then call('ZADD', KEYS[3], ms(due), name) end -- otherwise its back-off remains
  call('HSET', KEYS[4], name, job_pack(j))
end

-- The values of a record that scripts need are packed in one field, because
-- memory and time depend on the number of fields:
-- version|created|deadline|state after it|retention|hold|front ends
-- (0|1)|messages when it closes|destinations|
-- its agent is limited (0|1)|agent
-- A resolved interaction has its state in a field of its own.
local function pack(r)
  return format('1|%s|%d|%s|%s|%s|%s|%s|%s|%s|%s', r.created, r.deadline, r.after, r.keep, r.hold, r.fe, r.hooks, r.nd, r.lim, r.ag)
end

-- Reads the values of a record that scripts need. Returns nil if there is no
-- record.
local function read(key, id)
  local f = call('HMGET', key, 'c', 'st', 'se', 'x', 'w', 'b', 'rt', 'rev', 'n', 'q', 'en', 'to', 'm0', 'm1', 'm2', 'sp')
  if not f[1] then return nil end
  local r = {key = key, id = id, st = f[2] or 'pending', se = f[3] or '', x = f[4], w = f[5], b = f[6], rt = f[7] or id,
    rev = tonumber(f[8] or '0'), n = f[9], q = f[10], en = f[11], to = f[12], m = {f[13], f[14], f[15]}, sp = f[16]}
  r.created, r.deadline, r.after, r.keep, r.hold, r.fe, r.hooks, r.nd, r.lim, r.ag =
    string.match(f[1], '^1|(%d+)|(%d+)|(%a+)|(%d+)|(%d+)|(%d)|(%d+)|(%d+)|(%d)|(.*)$')
  if not r.created then error('NODVERSION the record of ' .. id .. ' has an unknown version') end
  r.deadline = tonumber(r.deadline)
  return r
end

-- Appends an event. The events of an opening and a response have no data: it is
-- in the record, where it does not change.
local function event(r, kind, state, data)
  local e = {'t', kind, 'i', r.id, 'a', r.ag, 'st', state}
  if r.se ~= '' then e[#e + 1] = 's' e[#e + 1] = r.se end
  if r.x then e[#e + 1] = 'x' e[#e + 1] = r.x end
  if data ~= '' then e[#e + 1] = 'd' e[#e + 1] = data end
  call('XADD', KEYS[5], '*', unpack(e))
end

-- Appends to the audit log. Each entry is linked to the one before it: the link
-- is a hash of the last link and the fields, each preceded by its length.
-- Scripts have only SHA-1; the seals, which the daemon makes, use SHA-256.
local function audit(id, kind, agent, session, state, data)
  local h = all and all.head or call('HMGET', KEYS[9], 'n', 'l')
  local n, at = ms(tonumber(h[1] or '0') + 1), ms(now)
  local link = redis.sha1hex(table.concat({h[2] or '', #n .. ':' .. n, #at .. ':' .. at, #kind .. ':' .. kind, #id .. ':' .. id,
    #agent .. ':' .. agent, #session .. ':' .. session, #state .. ':' .. state, #data .. ':' .. data}, '\n'))
  call('XADD', KEYS[8], '*', 'n', n, 'ts', at, 't', kind, 'i', id, 'a', agent, 's', session, 'st', state, 'd', data, 'l', link)
  if all then
    all.head = {n, link}
  else
    call('HSET', KEYS[9], 'n', n, 'l', link)
  end
  return n, link
end

-- Requests an edit. All edits of one message are one job, named after the first
-- interaction that was posted there, whichever round the message shows.
local function edit(r, dest, due) enqueue('edit', r.rt, dest, due) end

-- Returns the message references by destination, false for one without a
-- message.
local function messages(key, nd)
  local names = {}
  for d = 0, nd - 1 do names[#names + 1] = 'm' .. d end
  return call('HMGET', key, unpack(names))
end

-- Requests edits of all messages. They wait a moment, so that one edit also
-- shows what follows immediately, such as the delivery to the agent.
local function edit_all(r, delay)
  local nd = tonumber(r.nd)
  if r.b then -- the messages of the first in its batch show it
    for d = 0, nd - 1 do enqueue('edit', r.b, d, now + delay) end
  end
  local m = nd <= 3 and r.m or messages(r.key, nd)
  for d = 0, nd - 1 do
    if m[d + 1] then edit(r, d, now + delay) end
  end
end

-- Counts a change that messages show.
local function bump(r) r.rev = call('HINCRBY', r.key, 'rev', 1) end

-- Wakes the daemons that wait. Returns whether any of them is alive.
local function wake(r)
  local alive = false
  for ch in string.gmatch(r.w or '', '[^,]+') do
    if ch == own then
      alive = true
    else
      call('PUBLISH', ch, r.id)
      local s = call('ZSCORE', KEYS[6], ch)
      alive = alive or (s and tonumber(s) > now)
    end
  end
  return alive
end

-- Resolves a pending interaction, with everything that follows from it, in one
-- step.
local function finish(r, state, res, at, nonce)
  local n, link = audit(r.id, 'decision', r.ag, r.se, state, res)
  local set = {'st', state, 'res', res, 'at', ms(at), 'n', nonce, 'rev', ms(r.rev + 1), 'an', n, 'al', link}
  local waited = wake(r)
  if state == 'answered' or state == 'approved' or state == 'denied' then
    if r.q then
      call('XADD', KEYS[7], '*', 'i', r.id, 'a', r.ag, 's', r.se)
    elseif not waited then
      set[#set + 1] = 'nw' set[#set + 1] = '1'
    end
  end
  call('HSET', r.key, unpack(set))
  r.st, r.rev = state, r.rev + 1
  if all then
    all[#all + 1] = r.id
  else
    call('ZREM', KEYS[2], r.id)
  end
  if r.sp then -- the next step has nothing to do
    local step = 'step:' .. r.id .. ':' .. r.sp
    call('ZREM', KEYS[3], step)
    call('HDEL', KEYS[4], step)
  end
  if r.lim == '1' and call('HINCRBY', KEYS[10], r.ag, -1) <= 0 then call('HDEL', KEYS[10], r.ag) end
  edit_all(r, 100)
  for h = 0, tonumber(r.hooks) - 1 do enqueue('hook', r.id, h, now) end
  event(r, 'interaction_response', state, '')
end

-- Moves the deadline of a pending interaction.
local function defer(r, wait, after)
  r.deadline, r.after = now + wait, after
  call('HSET', r.key, 'c', pack(r))
  call('PEXPIRE', r.key, ms(wait + tonumber(r.keep)))
  call('ZADD', KEYS[2], ms(r.deadline), r.id)
end

-- Defers a pending interaction: it stays open for hold ms, and its agent stops
-- waiting.
local function queue(r, at, hold)
  r.q = ms(at)
  call('HSET', r.key, 'q', r.q, 'to', call('HGET', r.key, 'tq') or '')
  call('HDEL', r.key, 'esc', 'en', 'et')
  bump(r)
  defer(r, hold, 'expired')
  edit_all(r, 0)
  event(r, 'queued', 'pending', '')
  wake(r)
end

-- Escalates: the interaction becomes the one that its opening prepared.
local function escalate(r, at)
  local f = call('HMGET', r.key, 'esc', 'et')
  local before = tonumber(r.nd)
  r.nd = r.en
  call('HSET', r.key, 'cur', f[1], 'es', ms(at))
  call('HINCRBY', r.key, 'av', 1) -- refuses an amendment of the earlier state
  call('HDEL', r.key, 'esc', 'en', 'et')
  bump(r)
  defer(r, tonumber(f[2]), r.after)
  edit_all(r, 0)
  event(r, 'escalated', 'pending', f[1])
  for d = before, tonumber(r.nd) - 1 do
    if call('HEXISTS', r.key, 'f' .. d) == 0 then enqueue('post', r.id, d, now) end
  end
end

-- Resolves, defers or escalates an interaction whose deadline has passed.
-- Returns its state.
local function at_deadline(r)
  if r.st ~= 'pending' or now < r.deadline then return r.st end
  if r.en then
    escalate(r, r.deadline)
  elseif r.after == 'pending' then
    queue(r, r.deadline, tonumber(r.hold))
  else
    finish(r, r.after, r.to, r.deadline, 'timeout')
  end
  return r.st
end
