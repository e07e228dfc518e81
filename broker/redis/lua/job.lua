-- What scripts about jobs share, after base.lua. KEYS 2 and 3 are those of do.lua.
-- KEYS 2 has every job that there is, with the time from which it can be claimed. While
-- it waits behind others of its queue, that time is negative. The state of a job is
-- attempt|fence|generation|began|leased_until, where began is the time of the first
-- lease. A job that no one has leased yet has no state. A queue is a list of jobs.
local function job_parse(s)
  local a, f, g, c, l = string.match(s or '', '^(%d+)|(%d+)|(%d+)|(%d+)|(%d+)$')
  -- The first fence comes from the clock, so that a job does not repeat those of an
  -- earlier one with its name.
  if not a then a, f, g, c, l = 0, now, 1, ms(now), 0 end
  return {attempt = tonumber(a), fence = tonumber(f), gen = tonumber(g), began = c, lease = tonumber(l)}
end

local function job_pack(j) return format('%d|%d|%d|%s|%d', j.attempt, j.fence, j.gen, j.began, j.lease) end

-- Requests a job: it is due at the earlier of both times. One that is worked on, or
-- that failed before, keeps its time.
local function request(queue, name, due, exact)
  local at = tonumber(call('ZSCORE', KEYS[2], name))
  local waits = at and at < 0
  if at then
    local cur = call('HGET', KEYS[3], name)
    if cur then
      local j = job_parse(cur)
      j.gen = j.gen + 1
      call('HSET', KEYS[3], name, job_pack(j))
      if j.lease > now or j.attempt > 0 then return end
    end
  elseif queue ~= KEYS[2] then
    local length = call('RPUSH', queue, name)
    waits = length > 1 and length <= 4096
    if length > 4096 then call('RPOP', queue) end -- too long: no order
  end
  if waits then due = '-' .. due end
  call('ZADD', KEYS[2], exact and 'CH' or waits and 'GT' or 'LT', due, name)
end

-- Takes a job out of its queue. If it was the first, the next one becomes it.
local function leave(queue, name)
  if queue == KEYS[2] or call('LREM', queue, 1, name) == 0 then return end
  local first = call('LINDEX', queue, 0)
  local due = first and tonumber(call('ZSCORE', KEYS[2], first))
  if due and due < 0 then call('ZADD', KEYS[2], ms(-due), first) end
end
