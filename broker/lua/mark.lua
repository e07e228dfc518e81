-- Notes what happened to an interaction without ending it, except that the
-- last destination to fail makes it undeliverable.
-- KEYS 1 record  2 deadlines  3 pending index  4 outbox  5 jobs  6 events
-- ARGV 1 id  2 posted|failed|delivered
--      posted:    3 destination  4 message reference  5 revision shown  6 event data
--      failed:    3 destination  4 reason  5 event data  6 response if nobody is left
-- returns 'missing' | 'ok' | 'kept' (nothing changed)
local state = redis.call('HGET', KEYS[1], 'st')
if not state then return 'missing' end
local id, what = ARGV[1], ARGV[2]
if what == 'posted' then
  local d = ARGV[3]
  if redis.call('HGET', KEYS[1], 'm' .. d) == ARGV[4] then return 'kept' end
  redis.call('HSET', KEYS[1], 'm' .. d, ARGV[4])
  redis.call('HDEL', KEYS[1], 'f' .. d)
  event(KEYS[6], KEYS[1], id, 'posted', state, ARGV[6])
  if redis.call('HGET', KEYS[1], 'rev') ~= ARGV[5] then enqueue(KEYS[4], KEYS[5], 'edit', id, d, now) end
  return 'ok'
end
if what == 'failed' then
  local d = ARGV[3]
  if redis.call('HEXISTS', KEYS[1], 'f' .. d) == 1 or redis.call('HEXISTS', KEYS[1], 'm' .. d) == 1 then return 'kept' end
  redis.call('HSET', KEYS[1], 'f' .. d, ARGV[4])
  event(KEYS[6], KEYS[1], id, 'failed', state, ARGV[5])
  if state == 'pending' then
    local n = tonumber(redis.call('HGET', KEYS[1], 'nd'))
    for k = 0, n - 1 do
      if redis.call('HEXISTS', KEYS[1], 'f' .. k) == 0 then return 'ok' end
    end
    finish(KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6], id, 'undeliverable', ARGV[6], now, 'undeliverable')
  end
  return 'ok'
end
if redis.call('HSETNX', KEYS[1], 'dv', ms(now)) == 0 then return 'kept' end
redis.call('HINCRBY', KEYS[1], 'rev', 1)
edit_all(KEYS[4], KEYS[5], KEYS[1], id, 0)
event(KEYS[6], KEYS[1], id, 'delivered', state, '')
return 'ok'
