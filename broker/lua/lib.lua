-- Every script that changes an interaction begins with base.lua and this file.
-- Redis does not undo what a script wrote before it failed. So what can fail
-- comes before the first write, apart from commands that the user of Redis may
-- not run, which probe.lua tries at the start. What tells others comes last, and
-- cannot fail the script.
-- A stored job is attempt|fence|generation|created|leased_until, under the name
-- kind:interaction:destination. A job that no worker has leased yet is only in
-- the outbox.
local function job_parse(s)
  local a, f, g, c, l = string.match(s, '^(%d+)|(%d+)|(%d+)|(%d+)|(%d+)')
  if not a then a, f, g, c, l = 0, 0, 1, ms(now), 0 end -- nod did not write it
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
-- The version is 1.
-- A resolved interaction has its state in a field of its own.
local function pack(r)
  return format('1|%s|%d|%s|%s|%s|%s|%s|%s|%s|%s', r.created, r.deadline, r.after, r.keep, r.hold, r.fe, r.hooks, r.nd, r.lim, r.ag)
end

-- Reads the values of a record that scripts need. Returns nil if there is no
-- record.
local function read(key, id)
  local f = call('HMGET', key, 'c', 'st', 'se', 'x', 'w', 'rt', 'rev', 'n', 'q', 'to', 'm0', 'm1', 'm2', 'sp')
  if not f[1] then return nil end
  local r = {key = key, id = id, st = f[2] or 'pending', se = f[3] or '', x = f[4], w = f[5], rt = f[6] or id,
    rev = tonumber(f[7] or '0') or 0, n = f[8], q = f[9], to = f[10], m = {f[11], f[12], f[13]}, sp = f[14]}
  r.created, r.deadline, r.after, r.keep, r.hold, r.fe, r.hooks, r.nd, r.lim, r.ag =
    string.match(f[1], '^1|(%d+)|(%d+)|(%a+)|(%d+)|(%d+)|(%d)|(%d+)|(%d+)|(%d)|(.*)$')
  if not r.created then error('NODVERSION the record of ' .. id .. ' has an unknown version') end
  r.deadline = tonumber(r.deadline)
  return r
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
  local m = nd <= 3 and r.m or messages(r.key, nd)
  for d = 0, nd - 1 do
    if m[d + 1] then edit(r, d, now + delay) end
  end
end

-- Counts a change that messages show.
local function bump(r) r.rev = call('HINCRBY', r.key, 'rev', 1) end

-- Returns whether a daemon that waits is alive.
local function awaited(r)
  for ch in string.gmatch(r.w or '', '[^,]+') do
    if ch == own then return true end
    local s = call('ZSCORE', KEYS[6], ch)
    if s and tonumber(s) > now then return true end
  end
  return false
end

-- Wakes the other daemons that wait. One that is not told reads the journal.
local function wake(r)
  for ch in string.gmatch(r.w or '', '[^,]+') do
    if ch ~= own then attempt('PUBLISH', ch, r.id) end
  end
end

-- Resolves a pending interaction, with everything that follows from it, in one
-- step.
local function finish(r, state, res, at, nonce)
  local waited = awaited(r)
  local entry = journal(r, 'interaction_response', state, res, 'decision')
  local set = {'st', state, 'res', res, 'at', ms(at), 'n', nonce, 'rev', ms(r.rev + 1), 'an', entry}
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
  if r.lim == '1' and call('HINCRBY', KEYS[8], r.ag, -1) <= 0 then call('HDEL', KEYS[8], r.ag) end
  edit_all(r, 100)
  for h = 0, tonumber(r.hooks) - 1 do enqueue('hook', r.id, h, now) end
  wake(r)
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
  bump(r)
  defer(r, hold, 'expired')
  edit_all(r, 0)
  event(r, 'queued', 'pending', '')
  wake(r)
end

-- Resolves or defers an interaction whose deadline has passed.
-- Returns its state.
local function at_deadline(r)
  if r.st ~= 'pending' or now < r.deadline then return r.st end
  if r.after == 'pending' then
    queue(r, r.deadline, tonumber(r.hold))
  else
    finish(r, r.after, r.to or '', r.deadline, 'timeout')
  end
  return r.st
end
