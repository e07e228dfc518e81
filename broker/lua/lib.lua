-- Shared by every script: prepended to each of them.
-- A stored job is kind|interaction|destination|attempt|fence|generation|created|leased_until.
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
local function enqueue(out, jobs, kind, id, dest, due)
  local name = kind .. ':' .. id .. ':' .. dest
  local cur = redis.call('HGET', jobs, name)
  local j
  if cur then
    j = job_parse(cur)
    j.gen = j.gen + 1
    if j.lease <= now and j.attempt == 0 then redis.call('ZADD', out, ms(due), name) end -- else its back-off stands
  else
    j = {kind = kind, i = id, d = tostring(dest), attempt = 0, fence = 0, gen = 1, created = ms(now), lease = 0}
    redis.call('ZADD', out, ms(due), name)
  end
  redis.call('HSET', jobs, name, job_pack(j))
end

local function event(ev, rec, id, kind, state, data)
  local f = redis.call('HMGET', rec, 'ag', 'se', 'tc', 'tu')
  redis.call('XADD', ev, '*', 't', kind, 'i', id, 'a', f[1] or '', 's', f[2] or '', 'tc', f[3] or '', 'tu', f[4] or '',
    'st', state, 'ts', ms(now), 'd', data)
end

-- Edit jobs wait a moment, so that what follows at once (delivery to the
-- agent) is shown by the same edit.
local function edit_all(out, jobs, rec, id, delay)
  local n = tonumber(redis.call('HGET', rec, 'nd'))
  for d = 0, n - 1 do
    if redis.call('HEXISTS', rec, 'm' .. d) == 1 then
      enqueue(out, jobs, 'edit', id, d, now + delay)
    end
  end
end

-- Ends a pending interaction: everything that follows from an end, in one step.
local function finish(rec, dl, pend, out, jobs, ev, id, state, res, at, nonce)
  redis.call('HSET', rec, 'st', state, 'res', res, 'at', ms(at), 'n', nonce)
  redis.call('HINCRBY', rec, 'rev', 1)
  redis.call('ZREM', dl, id)
  redis.call('ZREM', pend, id)
  edit_all(out, jobs, rec, id, 100)
  event(ev, rec, id, 'interaction_response', state, res)
  local w = redis.call('HGET', rec, 'w')
  if w then
    for ch in string.gmatch(w, '[^,]+') do redis.call('PUBLISH', ch, id) end
  end
end
