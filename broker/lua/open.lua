-- Stores a new interaction with its deadline, posting jobs and event.
-- KEYS 1 record  2 idempotency key  3 deadlines  4 outbox  5 jobs  6 events
--      7 pending index  8 index of all  9 index of the session
-- ARGV 1 id  2 digest of the whole request  3 interaction  4 timeout in ms
--      5 state after the timeout  6 response after the timeout
--      7 state now  8 response now ('' while pending)  9 number of destinations
--      10 agent  11 session  12 tool call  13 turn  14 retention in ms
--      15 has idempotency key (0|1)  16 has session (0|1)
--      17.. pairs of destination index and reason: who can not be reached
-- returns {'new'|'old'|'conflict', id}
if redis.call('EXISTS', KEYS[1]) == 1 then return {'old', ARGV[1]} end
if ARGV[15] == '1' then
  local seen = redis.call('GET', KEYS[2])
  if seen then
    local id, digest = string.match(seen, '^(.-)|(.*)$')
    if digest ~= ARGV[2] then return {'conflict', id} end
    return {'old', id}
  end
end

local id, keep = ARGV[1], tonumber(ARGV[14])
local timeout, nd = tonumber(ARGV[4]), tonumber(ARGV[9])
local deadline = now + timeout
redis.call('HSET', KEYS[1], 'req', ARGV[3], 'st', 'pending', 'ct', ms(now), 'dl', ms(deadline), 'tst', ARGV[5], 'to', ARGV[6],
  'nd', ARGV[9], 'ag', ARGV[10], 'se', ARGV[11], 'tc', ARGV[12], 'tu', ARGV[13], 'rev', '1')
redis.call('PEXPIRE', KEYS[1], ms(timeout + keep))
if ARGV[15] == '1' then redis.call('SET', KEYS[2], id .. '|' .. ARGV[2], 'PX', ms(timeout + keep)) end
redis.call('ZADD', KEYS[8], ms(now), id)
if ARGV[16] == '1' then
  redis.call('ZADD', KEYS[9], ms(now), id)
  redis.call('PEXPIRE', KEYS[9], ms(timeout + keep))
end
local failed = {}
for n = 17, #ARGV, 2 do
  failed[ARGV[n]] = true
  redis.call('HSET', KEYS[1], 'f' .. ARGV[n], ARGV[n + 1])
end
event(KEYS[6], KEYS[1], id, 'interaction_request', 'pending', ARGV[3])
if ARGV[7] ~= 'pending' then
  finish(KEYS[1], KEYS[3], KEYS[7], KEYS[4], KEYS[5], KEYS[6], id, ARGV[7], ARGV[8], now, 'open')
  return {'new', id}
end
redis.call('ZADD', KEYS[3], ms(deadline), id)
redis.call('ZADD', KEYS[7], ms(now), id)
for d = 0, nd - 1 do
  if not failed[tostring(d)] then enqueue(KEYS[4], KEYS[5], 'post', id, d, now) end
end
return {'new', id}
