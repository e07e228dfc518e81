-- Leases due jobs.
-- KEYS 1 dead letters, which it does not use
--      2 and 3 as in do.lua
-- ARGV 1 maximum number of jobs
--      2 lease in ms
-- returns ms until the next job is due ('' if there is none), and then names and
-- states, alternating
local due = call('ZRANGEBYSCORE', KEYS[2], 0, ms(now), 'LIMIT', 0, ARGV[1])
local out = {''}
for _, name in ipairs(due) do
  local j = job_parse(call('HGET', KEYS[3], name))
  j.attempt, j.fence, j.lease = j.attempt + 1, j.fence + 1, now + tonumber(ARGV[2])
  local packed = job_pack(j)
  call('HSET', KEYS[3], name, packed)
  call('ZADD', KEYS[2], ms(j.lease), name)
  out[#out + 1] = name
  out[#out + 1] = packed
end
local first = call('ZRANGEBYSCORE', KEYS[2], 0, '+inf', 'WITHSCORES', 'LIMIT', 0, 1)[2]
if first then out[1] = ms(math.max(0, tonumber(first) - now)) end
return out
