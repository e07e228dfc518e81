-- Makes a post job due that was given back because its card had to wait for its
-- turn. It comes before the other jobs, by its age.
-- KEYS 1 outbox
--      2 jobs
-- ARGV 1 job
-- returns 1 if the job is due now, 0 if it does not wait for its turn
local s = call('HGET', KEYS[2], ARGV[1])
if not s then return 0 end -- nobody has tried it yet, or it is done
local j, at = job_parse(s), call('ZSCORE', KEYS[1], ARGV[1])
if j.attempt > 0 or j.lease > 0 or not at or tonumber(at) <= now then return 0 end
call('ZADD', KEYS[1], j.created, ARGV[1])
return 1
