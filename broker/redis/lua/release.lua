-- Ends or extends the lease of a job.
-- KEYS 1 dead letters
--      2 and 3 as in do.lua
--      4 queue of the job, or KEYS 2
-- ARGV 1 job
--      2 fence
--      3 generation
--      4 done|dead|again|free|extend; free is again, and the attempt does not count
--      5 value (dead), or ms (again, free, extend)
--      6 it keeps its place in its queue (0|1)
-- returns 0 if the lease was lost, 1 if it ended, 2 if the job was requested in the
-- meantime
local name, how = ARGV[1], ARGV[4]
local s = call('HGET', KEYS[3], name)
if not s then return 0 end
local j = job_parse(s)
if j.fence ~= tonumber(ARGV[2]) then return 0 end
local function keep(lease, due)
  j.lease = lease
  call('HSET', KEYS[3], name, job_pack(j))
  call('ZADD', KEYS[2], ms(due), name)
end
if how == 'extend' then
  local lease = now + tonumber(ARGV[5])
  keep(lease, lease)
  return 1
end
if ARGV[6] == '0' then leave(KEYS[4], name) end
if how == 'free' then j.attempt = math.max(j.attempt - 1, 0) end
if how == 'again' or how == 'free' then
  keep(0, now + tonumber(ARGV[5]))
  return 1
end
if how == 'dead' then
  call('LPUSH', KEYS[1], ARGV[5])
  call('LTRIM', KEYS[1], 0, 999)
end
if j.gen ~= tonumber(ARGV[3]) then
  j.attempt = 0
  keep(0, now)
  return 2
end
call('HDEL', KEYS[3], name)
call('ZREM', KEYS[2], name)
return 1
