-- Stores a grant, once for each request that gave it: a repeat must not bring
-- back a grant that was revoked in the meantime.
-- KEYS 1 grants of an agent and session
--      2 owners of grants, by the time when the last grant of each expires
--      3 mark of the request that gave it, one for each grant
-- ARGV 1 key of the grant
--      2 grant
--      3 longest life of a grant, in ms
--      4 time when it expires, in ms
--      5 agent and session
-- returns 1, or 0 if it was given before
if not call('SET', KEYS[3], '1', 'NX', 'PX', ARGV[3]) then return 0 end
call('HSET', KEYS[1], ARGV[1], ARGV[2])
call('PEXPIRE', KEYS[1], ARGV[3])
local known = call('ZSCORE', KEYS[2], ARGV[5])
if not known or tonumber(known) < tonumber(ARGV[4]) then call('ZADD', KEYS[2], ARGV[4], ARGV[5]) end
return 1
