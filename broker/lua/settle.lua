-- Ends a pending interaction; the first caller wins.
-- KEYS 1 record  2 deadlines  3 pending index  4 outbox  5 jobs  6 events
-- ARGV 1 id  2 cause: answer|timeout|cancel  3 state  4 response  5 nonce
-- returns 'missing' | 'early' (a time-out before its time) | 'won' | 'lost'
local f = redis.call('HMGET', KEYS[1], 'st', 'dl', 'n', 'tst', 'to')
if not f[1] then
  redis.call('ZREM', KEYS[2], ARGV[1]) -- a deadline whose record is gone
  return 'missing'
end
if f[1] ~= 'pending' then
  if f[3] == ARGV[5] then return 'won' end
  return 'lost'
end
local deadline = tonumber(f[2])
if ARGV[2] == 'timeout' and now < deadline then return 'early' end
if now >= deadline then
  finish(KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6], ARGV[1], f[4], f[5], deadline, 'timeout')
  if ARGV[2] == 'timeout' then return 'won' end
  return 'lost'
end
finish(KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6], ARGV[1], ARGV[3], ARGV[4], now, ARGV[5])
return 'won'
