-- Ends or extends the lease of a job.
-- KEYS 1 outbox
--      2 jobs
--      3 dead letters
-- ARGV 1 job
--      2 fence
--      3 generation
--      4 finish|retry|later|bury|extend; later does not count as an attempt
--      5 delay in ms (retry, later), dead letter (bury), or lease in ms (extend)
-- returns 0 if the lease was lost, 1 if done, 2 if the job was requested again
--      in the meantime
local s = call('HGET', KEYS[2], ARGV[1])
if not s then return 0 end
local j = job_parse(s)
if j.fence ~= tonumber(ARGV[2]) then return 0 end
if ARGV[4] == 'extend' then
  j.lease = now + tonumber(ARGV[5])
  call('HSET', KEYS[2], ARGV[1], job_pack(j))
  call('ZADD', KEYS[1], ms(j.lease), ARGV[1])
  return 1
end
j.lease = 0
local again = ARGV[4] == 'retry' or ARGV[4] == 'later'
if ARGV[4] == 'later' then j.attempt = math.max(j.attempt - 1, 0) end
if not again and j.gen ~= tonumber(ARGV[3]) then
  j.attempt = 0
  call('HSET', KEYS[2], ARGV[1], job_pack(j))
  call('ZADD', KEYS[1], ms(now), ARGV[1])
  return 2
end
if again then
  call('HSET', KEYS[2], ARGV[1], job_pack(j))
  call('ZADD', KEYS[1], ms(now + tonumber(ARGV[5])), ARGV[1])
  return 1
end
call('HDEL', KEYS[2], ARGV[1])
call('ZREM', KEYS[1], ARGV[1])
if ARGV[4] == 'bury' then
  call('LPUSH', KEYS[3], ARGV[5])
  call('LTRIM', KEYS[3], 0, 999)
end
return 1
