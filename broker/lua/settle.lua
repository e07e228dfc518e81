-- Ends a pending interaction; the first caller wins.
-- KEYS 1-11 as in lib.lua
-- ARGV 1 id  2 cause: answer|timeout|cancel  3 state  4 response  5 nonce
-- returns 'missing' | 'early' (a time-out that ends nothing now) | 'won' | 'lost'
local f = redis.call('HMGET', KEYS[1], 'st', 'n')
if not f[1] then
  redis.call('ZREM', KEYS[2], ARGV[1]) -- a deadline whose record is gone
  return 'missing'
end
if f[1] ~= 'pending' then
  redis.call('ZREM', KEYS[2], ARGV[1])
  if f[2] == ARGV[5] then return 'won' end
  return 'lost'
end
local state = at_deadline(KEYS[1], ARGV[1])
if ARGV[2] == 'timeout' then
  if state == 'pending' then return 'early' end
  return 'won'
end
if state ~= 'pending' then return 'lost' end
finish(KEYS[1], ARGV[1], ARGV[3], ARGV[4], now, ARGV[5])
return 'won'
