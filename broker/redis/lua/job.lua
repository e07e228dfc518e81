-- What scripts about jobs share, after base.lua. KEYS 2 and 3 are those of do.lua.
-- KEYS 2 has every job that there is: with the time from which it can be claimed, or
-- with '+inf' while it waits behind others of its queue. The state of a job is
-- attempt|fence|generation|began|leased_until, where began is the time of the first
-- lease. A job that no one has leased yet has no state. A queue is a list of jobs, each after the time from which it can be claimed
-- once it is the first.
local function job_parse(s)
  local a, f, g, c, l = string.match(s or '', '^(%d+)|(%d+)|(%d+)|(%d+)|(%d+)$')
  -- The first fence comes from the clock, so that a job does not repeat those of an
  -- earlier one with its name.
  if not a then a, f, g, c, l = 0, now, 1, ms(now), 0 end
  return {attempt = tonumber(a), fence = tonumber(f), gen = tonumber(g), began = c, lease = tonumber(l)}
end

local function job_pack(j) return format('%d|%d|%d|%s|%d', j.attempt, j.fence, j.gen, j.began, j.lease) end

local function queued(entry) return string.match(entry, '^(%S+) (.*)$') end

-- Changes the time of a job that waits in a queue.
local function retime(queue, name, due, exact)
  for n, entry in ipairs(call('LRANGE', queue, 0, -1)) do
    local at, other = queued(entry)
    if other == name then
      if exact or tonumber(due) < tonumber(at) then call('LSET', queue, n - 1, due .. ' ' .. name) end
      return
    end
  end
end

-- Requests a job: it is due at the earlier of both times. One that is worked on, or
-- that failed before, keeps its time.
local function request(queue, name, due, exact)
  local at = call('ZSCORE', KEYS[2], name)
  if at then
    local cur = call('HGET', KEYS[3], name)
    if cur then
      local j = job_parse(cur)
      j.gen = j.gen + 1
      call('HSET', KEYS[3], name, job_pack(j))
      if j.lease > now or j.attempt > 0 then return end
    end
    if at == 'inf' then return retime(queue, name, due, exact) end
  elseif queue ~= KEYS[2] then
    local length = call('RPUSH', queue, due .. ' ' .. name)
    if length > 1 and length <= 4096 then return call('ZADD', KEYS[2], '+inf', name) end
    if length > 1 then call('RPOP', queue) end -- too long: no order
  end
  if exact then call('ZADD', KEYS[2], due, name) else call('ZADD', KEYS[2], 'LT', due, name) end
end

-- Takes a job out of its queue. If it was the first, the next one becomes it.
local function leave(queue, name)
  if queue == KEYS[2] then return end
  local head = call('LINDEX', queue, 0)
  if not head then return end
  local _, first = queued(head)
  if first ~= name then
    for _, entry in ipairs(call('LRANGE', queue, 1, -1)) do
      local _, other = queued(entry)
      if other == name then return call('LREM', queue, 1, entry) end
    end
    return
  end
  call('LPOP', queue)
  local due, following = queued(call('LINDEX', queue, 0) or '')
  if following then call('ZADD', KEYS[2], due, following) end
end
