-- Replaces a field of a hash if it has not changed.
-- KEYS 1 hash
-- ARGV 1 field
--      2 expected value; empty if the field must not exist
--      3 new value; empty removes the field
-- returns 1 if the value was replaced, otherwise 0
if (call('HGET', KEYS[1], ARGV[1]) or '') ~= ARGV[2] then return 0 end
if ARGV[3] == '' then
  call('HDEL', KEYS[1], ARGV[1])
else
  call('HSET', KEYS[1], ARGV[1], ARGV[3])
end
return 1
