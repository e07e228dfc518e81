-- Appends a seal to those of a journal, if the last one is still the expected one.
-- KEYS 1 head of the journal
--      2 seals
-- ARGV 1 the last seal ('' for none)
--      2 the new seal
--      3 ID of the last entry that it covers, which is also its own
--      4 ID of the seal that it replaces ('' for none)
-- returns 1 if the seal was appended, otherwise 0
if (call('HGET', KEYS[1], 'seal') or '') ~= ARGV[1] then return 0 end
call('XADD', KEYS[2], ARGV[3], 's', ARGV[2])
call('HSET', KEYS[1], 'seal', ARGV[2], 'cur', ARGV[3])
if ARGV[4] ~= '' then call('XDEL', KEYS[2], ARGV[4]) end
return 1
