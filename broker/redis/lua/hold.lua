-- Stops the calls of a rate limit for a while. The call that the platform
-- refused goes first after that.
-- KEYS as in turn.lua
-- ARGV 1-3 as in turn.lua; the key is '' if no call was refused
--      4 which of the limits, from 0
--      5 ms to wait
--      6 ms until the call asks again
local KEPT = ms(24 * 3600 * 1000)
local key = KEYS[5 * tonumber(ARGV[4]) + 1]
local had = call('HMGET', key, 'h', 'n')
call('HSET', key, 'h', ms(math.max(tonumber(had[1] or '0'), now + tonumber(ARGV[5]))), 'n', ms(math.max(tonumber(had[2] or '0'), now)))
call('PEXPIRE', key, KEPT)
if ARGV[1] == '' then return 1 end
for k = 0, #KEYS - 1, 5 do
  key = KEYS[ARGV[3] == '1' and k + 4 or k + 3]
  call('ZADD', key, ms(tonumber(ARGV[2]) * 2 ^ 50), ARGV[1]) -- before all calls of its class; see CLASS in turn.lua
  call('ZADD', KEYS[k + 5], ms(now + tonumber(ARGV[6])), ARGV[1])
  for n = 1, 5 do call('PEXPIRE', KEYS[k + n], KEPT) end
end
return 1
