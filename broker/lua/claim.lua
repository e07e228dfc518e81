-- Leases due jobs.
-- KEYS 1 outbox  2 jobs
-- ARGV 1 how many  2 lease in ms
-- returns packed jobs
local due = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', ms(now), 'LIMIT', 0, ARGV[1])
local out = {}
for _, name in ipairs(due) do
  local s = redis.call('HGET', KEYS[2], name)
  if s then
    local j = job_parse(s)
    j.attempt, j.fence, j.lease = j.attempt + 1, j.fence + 1, now + tonumber(ARGV[2])
    local packed = job_pack(j)
    redis.call('HSET', KEYS[2], name, packed)
    redis.call('ZADD', KEYS[1], ms(j.lease), name)
    out[#out + 1] = packed
  else
    redis.call('ZREM', KEYS[1], name)
  end
end
return out
