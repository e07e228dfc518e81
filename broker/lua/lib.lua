-- Shared by every script: prepended to each of them.
-- Scripts that change an interaction have these keys in common:
-- KEYS 1 record  2 deadlines  3 outbox  4 jobs  5 events  6 nodes with waiters,
--      by expiry  7 late answers  8 audit log  9 its head  10 pending requests
--      of agents that are limited
-- Each call costs about 5 µs, most of it before the command runs: what is not
-- needed is not called.
-- A record is a hash. Its fields are those of recordFields of record.go:
--   req  JSON    the interaction as it was opened
--   cur  JSON    the interaction as it was changed since
--   c    packed  what scripts read of every record; see pack
--   st   text    the final state; none while it is pending
--   at   ms      when it was resolved
--   res  JSON    the response
--   n    text    the nonce of the settlement that won
--   nw   flag    no one waited for the response when it came
--   to   JSON    the response at the deadline
--   tq   JSON    the response at the end of the hold
--   esc  JSON    the interaction once escalated; none if it does not, or was
--   en   number  the number of its destinations then
--   et   number  its timeout then, in ms
--   es   ms      when it was escalated
--   se   text    the session
--   x    JSON    the correlation ids of its events
--   w    list    the channels of the daemons whose callers wait
--   q    ms      when its agent was told that it is queued
--   hq   text    the proof of how long it is held
--   dv   ms      when the response was delivered to the agent
--   co   JSON    what the agent made of the response
--   rev  number  changes that its messages show
--   jn   number  identical requests that joined it
--   av   number  amendments
--   sp   number  the next step of its escalation
--   rn   number  reminders
--   vs   votes   the votes so far; see vote.lua
--   an   number  the number of its entry in the audit log
--   al   text    the link of that entry
--   b    id      the first of its batch, whose messages show it
--   bm   list    all of its batch, on the first
--   rt   id      the first round, whose messages show it
--   nx   id      the next round
--   hd   id      the last round, on the first
--   m#   JSON    the message at a destination
--   f#   text    why a destination could not be reached
--   l#   ms      when the turn of a destination is expected to come
--   s#   text    the content that a destination shows whole
--   p#   lines   the content that is being sent, and each part that was
--   r#   JSON    a reminder
local call, format = redis.call, string.format -- looked up once: that is dear
local T = call('TIME')
local now = T[1] * 1000 + math.floor(T[2] / 1000)

-- The channel of the daemon that runs the script, where that wakes its own
-- callers on its own.
local own = nil

-- What a script that ends many does once for all of them: ids whose deadlines
-- go, and the head of the audit log.
local all = nil

local function ms(n) return format('%d', n) end -- '%.0f' takes a microsecond

-- A stored job is attempt|fence|generation|created|leased_until, under the name
-- kind:interaction:destination. One that nobody has worked on is in the outbox
-- only.
local function job_parse(s)
  local a, f, g, c, l = string.match(s, '^(%d+)|(%d+)|(%d+)|(%d+)|(%d+)')
  return {attempt = tonumber(a), fence = tonumber(f), gen = tonumber(g), created = c, lease = tonumber(l)}
end

local function job_pack(j)
  return format('%d|%d|%d|%s|%d', j.attempt, j.fence, j.gen, j.created, j.lease)
end

-- Asks for a job that cannot be there yet.
local function add_job(kind, id, dest, due) call('ZADD', KEYS[3], ms(due), kind .. ':' .. id .. ':' .. dest) end

-- Asks for a job. One that is being worked on stays leased and is repeated
-- when that work ends, so that two workers never touch one message at once.
local function enqueue(kind, id, dest, due)
  local name = kind .. ':' .. id .. ':' .. dest
  local cur = call('HGET', KEYS[4], name)
  if not cur then return add_job(kind, id, dest, due) end
  local j = job_parse(cur)
  j.gen = j.gen + 1
  if j.lease <= now and j.attempt == 0 then call('ZADD', KEYS[3], ms(due), name) end -- else its back-off stands
  call('HSET', KEYS[4], name, job_pack(j))
end

-- What a record holds besides its texts is packed in one field, as memory and
-- time go by the number of fields:
-- version|created|deadline|state after it|retention|hold|front ends (0|1)|webhooks|destinations|
-- its agent is limited (0|1)|agent
-- The state is a field of its own from the end on.
local function pack(r)
  return format('1|%s|%d|%s|%s|%s|%s|%s|%s|%s|%s', r.created, r.deadline, r.after, r.keep, r.hold, r.fe, r.hooks, r.nd, r.lim, r.ag)
end

-- Reads what scripts need of a record; nil where there is none.
local function read(key, id)
  local f = call('HMGET', key, 'c', 'st', 'se', 'x', 'w', 'b', 'rt', 'rev', 'n', 'q', 'en', 'to', 'm0', 'm1', 'm2')
  if not f[1] then return nil end
  local r = {key = key, id = id, st = f[2] or 'pending', se = f[3] or '', x = f[4], w = f[5], b = f[6], rt = f[7] or id,
    rev = tonumber(f[8] or '0'), n = f[9], q = f[10], en = f[11], to = f[12], m = {f[13], f[14], f[15]}}
  r.created, r.deadline, r.after, r.keep, r.hold, r.fe, r.hooks, r.nd, r.lim, r.ag =
    string.match(f[1], '^1|(%d+)|(%d+)|(%a+)|(%d+)|(%d+)|(%d)|(%d+)|(%d+)|(%d)|(.*)$')
  if not r.created then error('NODVERSION the record of ' .. id .. ' is of a version that this nod does not know') end
  r.deadline = tonumber(r.deadline)
  return r
end

-- An event of an opening or an end has no data of its own: that is in the
-- record, where it does not change.
local function event(r, kind, state, data)
  local e = {'t', kind, 'i', r.id, 'a', r.ag, 'st', state}
  if r.se ~= '' then e[#e + 1] = 's' e[#e + 1] = r.se end
  if r.x then e[#e + 1] = 'x' e[#e + 1] = r.x end
  if data ~= '' then e[#e + 1] = 'd' e[#e + 1] = data end
  call('XADD', KEYS[5], '*', unpack(e))
end

-- Appends to the audit log. Each entry is linked to the one before it; what is
-- linked is the last link and the fields, each with its length before it.
-- SHA-1 is what there is here: the seals, made outside, use SHA-256.
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

-- Edits of one message are one job, whatever round it shows: it has the name
-- of the first interaction that was posted there.
local function edit(r, dest, due) enqueue('edit', r.rt, dest, due) end

-- Which destinations have a message.
local function messages(key, nd)
  local names = {}
  for d = 0, nd - 1 do names[#names + 1] = 'm' .. d end
  return call('HMGET', key, unpack(names))
end

-- Edit jobs wait a moment, so that what follows at once (delivery to the
-- agent) is shown by the same edit.
local function edit_all(r, delay)
  local nd = tonumber(r.nd)
  if r.b then -- it is shown in the message of its batch's first
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

-- Ends a pending interaction: everything that follows from an end, in one step.
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

-- Keeps a pending interaction open for hold ms: its agent is told so.
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

-- Asks more people: the record is as its opening prepared it for this case.
local function escalate(r, at)
  local f = call('HMGET', r.key, 'esc', 'et')
  local before = tonumber(r.nd)
  r.nd = r.en
  call('HSET', r.key, 'cur', f[1], 'es', ms(at))
  call('HINCRBY', r.key, 'av', 1) -- an amendment of what was before is refused
  call('HDEL', r.key, 'esc', 'en', 'et')
  bump(r)
  defer(r, tonumber(f[2]), r.after)
  edit_all(r, 0)
  event(r, 'escalated', 'pending', f[1])
  for d = before, tonumber(r.nd) - 1 do
    if call('HEXISTS', r.key, 'f' .. d) == 0 then enqueue('post', r.id, d, now) end
  end
end

-- Applies what was agreed for the deadline once it has passed. Returns the
-- state then.
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
