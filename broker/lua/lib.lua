-- Shared by every script: prepended to each of them.
-- A stored job is kind|interaction|destination|attempt|fence|generation|created|leased_until.
-- Scripts that change an interaction have these keys in common:
-- KEYS 1 record  2 deadlines  3 pending index  4 outbox  5 jobs  6 events
--      7 nodes with waiters, by expiry  8 late answers  9 audit log  10 its head
--      11 pending requests by agent
local T = redis.call('TIME')
local now = T[1] * 1000 + math.floor(T[2] / 1000)

local function job_parse(s)
  local j = {}
  for part in string.gmatch(s, '[^|]+') do j[#j + 1] = part end
  return {kind = j[1], i = j[2], d = j[3], attempt = tonumber(j[4]), fence = tonumber(j[5]),
    gen = tonumber(j[6]), created = j[7], lease = tonumber(j[8])}
end

local function job_pack(j)
  return table.concat({j.kind, j.i, j.d, string.format('%.0f', j.attempt), string.format('%.0f', j.fence),
    string.format('%.0f', j.gen), j.created, string.format('%.0f', j.lease)}, '|')
end

local function ms(n) return string.format('%.0f', n) end

-- Asks for a job. One that is being worked on stays leased and comes again
-- when that work ends, so that two workers never touch one message at once.
local function enqueue(kind, id, dest, due)
  local name = kind .. ':' .. id .. ':' .. dest
  local cur = redis.call('HGET', KEYS[5], name)
  local j
  if cur then
    j = job_parse(cur)
    j.gen = j.gen + 1
    if j.lease <= now and j.attempt == 0 then redis.call('ZADD', KEYS[4], ms(due), name) end -- else its back-off stands
  else
    j = {kind = kind, i = id, d = tostring(dest), attempt = 0, fence = 0, gen = 1, created = ms(now), lease = 0}
    redis.call('ZADD', KEYS[4], ms(due), name)
  end
  redis.call('HSET', KEYS[5], name, job_pack(j))
end

local function event(rec, id, kind, state, data)
  local f = redis.call('HMGET', rec, 'ag', 'se', 'tc', 'tu', 'ri')
  redis.call('XADD', KEYS[6], '*', 't', kind, 'i', id, 'a', f[1] or '', 's', f[2] or '', 'tc', f[3] or '', 'tu', f[4] or '',
    'ri', f[5] or '', 'st', state, 'ts', ms(now), 'd', data)
end

-- Appends to the audit log. Each entry is linked to the one before it; what is
-- linked is the last link and the fields, each with its length before it.
-- SHA-1 is what there is here: the seals, made outside, use SHA-256.
local function audit(id, kind, agent, session, state, data)
  local h = redis.call('HMGET', KEYS[10], 'n', 'l')
  local n, at = ms(tonumber(h[1] or '0') + 1), ms(now)
  local s = {h[2] or ''}
  for _, f in ipairs({n, at, kind, id, agent, session, state, data}) do s[#s + 1] = #f .. ':' .. f end
  local link = redis.sha1hex(table.concat(s, '\n'))
  redis.call('XADD', KEYS[9], '*', 'n', n, 'ts', at, 't', kind, 'i', id, 'a', agent, 's', session, 'st', state, 'd', data, 'l', link)
  redis.call('HSET', KEYS[10], 'n', n, 'l', link)
  return n, link
end

-- Edits of one message are one job, whatever round it shows: it has the name
-- of the first interaction that was posted there.
local function edit(rec, id, dest, due)
  local root = redis.call('HGET', rec, 'rt')
  if not root or root == '' then root = id end
  enqueue('edit', root, dest, due)
end

-- Edit jobs wait a moment, so that what follows at once (delivery to the
-- agent) is shown by the same edit.
local function edit_all(rec, id, delay)
  local n = tonumber(redis.call('HGET', rec, 'nd'))
  local first = redis.call('HGET', rec, 'b')
  if first then -- it is shown in the message of its batch's first
    for d = 0, n - 1 do enqueue('edit', first, d, now + delay) end
  end
  for d = 0, n - 1 do
    if redis.call('HEXISTS', rec, 'm' .. d) == 1 then edit(rec, id, d, now + delay) end
  end
end

-- Wakes the daemons that wait. Returns whether any of them is alive.
local function wake(rec, id)
  local alive = false
  local w = redis.call('HGET', rec, 'w')
  if w then
    for ch in string.gmatch(w, '[^,]+') do
      redis.call('PUBLISH', ch, id)
      local s = redis.call('ZSCORE', KEYS[7], ch)
      alive = alive or (s and tonumber(s) > now)
    end
  end
  return alive
end

-- Ends a pending interaction: everything that follows from an end, in one step.
local function finish(rec, id, state, res, at, nonce)
  redis.call('HSET', rec, 'st', state, 'res', res, 'at', ms(at), 'n', nonce)
  redis.call('HINCRBY', rec, 'rev', 1)
  redis.call('ZREM', KEYS[2], id)
  redis.call('ZREM', KEYS[3], id)
  local agent = redis.call('HGET', rec, 'ag')
  if redis.call('HINCRBY', KEYS[11], agent, -1) <= 0 then redis.call('HDEL', KEYS[11], agent) end
  edit_all(rec, id, 100)
  for n = 0, tonumber(redis.call('HGET', rec, 'wh') or '0') - 1 do enqueue('hook', id, n, now) end
  event(rec, id, 'interaction_response', state, res)
  local who = redis.call('HMGET', rec, 'ag', 'se')
  local n, link = audit(id, 'decision', who[1], who[2], state, res)
  redis.call('HSET', rec, 'an', n, 'al', link)
  local waited = wake(rec, id)
  if state == 'answered' or state == 'approved' or state == 'denied' then
    local f = redis.call('HMGET', rec, 'q', 'ag', 'se')
    if f[1] then
      redis.call('XADD', KEYS[8], '*', 'i', id, 'a', f[2], 's', f[3])
    elseif not waited then
      redis.call('HSET', rec, 'nw', '1')
    end
  end
end

-- Keeps a pending interaction open for hold ms: its agent is told so.
local function queue(rec, id, at, hold)
  local keep = tonumber(redis.call('HGET', rec, 'kp'))
  redis.call('HSET', rec, 'q', ms(at), 'dl', ms(now + hold), 'tst', 'expired', 'to', redis.call('HGET', rec, 'tq'))
  redis.call('HDEL', rec, 'esc')
  redis.call('HINCRBY', rec, 'rev', 1)
  redis.call('PEXPIRE', rec, ms(hold + keep))
  redis.call('ZADD', KEYS[2], ms(now + hold), id)
  edit_all(rec, id, 0)
  event(rec, id, 'queued', 'pending', '')
  wake(rec, id)
end

-- Asks more people: the record is as its opening prepared it for this case.
local function escalate(rec, id, at)
  local f = redis.call('HMGET', rec, 'esc', 'en', 'et', 'nd', 'kp')
  local timeout = tonumber(f[3])
  redis.call('HSET', rec, 'req', f[1], 'nd', f[2], 'es', ms(at), 'dl', ms(now + timeout))
  redis.call('HDEL', rec, 'esc')
  redis.call('HINCRBY', rec, 'rev', 1)
  redis.call('PEXPIRE', rec, ms(timeout + tonumber(f[5])))
  redis.call('ZADD', KEYS[2], ms(now + timeout), id)
  edit_all(rec, id, 0)
  event(rec, id, 'escalated', 'pending', f[1])
  for d = tonumber(f[4]), tonumber(f[2]) - 1 do
    if redis.call('HEXISTS', rec, 'f' .. d) == 0 then enqueue('post', id, d, now) end
  end
end

-- Applies what was agreed for the deadline once it has passed. Returns the
-- state then.
local function at_deadline(rec, id)
  local f = redis.call('HMGET', rec, 'st', 'dl', 'tst', 'to', 'esc', 'ho')
  local deadline = tonumber(f[2])
  if f[1] ~= 'pending' or now < deadline then return f[1] end
  if f[5] then
    escalate(rec, id, deadline)
  elseif f[3] == 'pending' then
    queue(rec, id, deadline, tonumber(f[6]))
  else
    finish(rec, id, f[3], f[4], deadline, 'timeout')
    return f[3]
  end
  return 'pending'
end
