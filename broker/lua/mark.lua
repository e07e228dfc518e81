-- Notes what happened to an interaction without ending it, except that the
-- last destination to fail makes it undeliverable.
-- KEYS 1-11 as in lib.lua
-- ARGV 1 id  2 posted|failed|delivered|queued|completed|joined|redraw
--      posted:    3 destination  4 message reference  5 revision shown  6 event data
--      failed:    3 destination  4 reason  5 event data  6 response if nobody is left
--      queued:    3 hold in ms
--      completed: 3 completion
--      redraw:    3 destination
--      amended:   3 amendments so far  4 interaction  5 number of destinations
--                 6 interaction once escalated ('')  7 more people are asked (0|1)
--                 8 next step  9 ms until then (below 0: none)  10 ms until reminders
--                 11.. reminders
-- returns 'missing' | 'ok' | 'kept' (nothing changed) | 'final' (too late) |
--      'changed' (another amendment came first)
local state = redis.call('HGET', KEYS[1], 'st')
if not state then return 'missing' end
local id, what = ARGV[1], ARGV[2]
if what == 'posted' then
  local d = ARGV[3]
  if redis.call('HGET', KEYS[1], 'm' .. d) == ARGV[4] then return 'kept' end
  redis.call('HSET', KEYS[1], 'm' .. d, ARGV[4])
  redis.call('HDEL', KEYS[1], 'f' .. d)
  event(KEYS[1], id, 'posted', state, ARGV[6])
  if redis.call('HGET', KEYS[1], 'rev') ~= ARGV[5] then edit(KEYS[1], id, d, now) end
  return 'ok'
end
if what == 'failed' then
  local d = ARGV[3]
  if redis.call('HEXISTS', KEYS[1], 'f' .. d) == 1 or redis.call('HEXISTS', KEYS[1], 'm' .. d) == 1 then return 'kept' end
  redis.call('HSET', KEYS[1], 'f' .. d, ARGV[4])
  event(KEYS[1], id, 'failed', state, ARGV[5])
  if state == 'pending' then
    local f = redis.call('HMGET', KEYS[1], 'nd', 'fe', 'esc')
    if f[2] == '1' or f[3] then return 'ok' end -- others can still be asked
    for k = 0, tonumber(f[1]) - 1 do
      if redis.call('HEXISTS', KEYS[1], 'f' .. k) == 0 then return 'ok' end
    end
    finish(KEYS[1], id, 'undeliverable', ARGV[6], now, 'undeliverable')
  end
  return 'ok'
end
if what == 'queued' then
  if at_deadline(KEYS[1], id) ~= 'pending' then return 'final' end
  if redis.call('HEXISTS', KEYS[1], 'q') == 1 then return 'kept' end
  queue(KEYS[1], id, now, tonumber(ARGV[3]))
  return 'ok'
end
if what == 'joined' then
  redis.call('HINCRBY', KEYS[1], 'jn', 1)
  redis.call('HINCRBY', KEYS[1], 'rev', 1)
  edit_all(KEYS[1], id, 0)
  event(KEYS[1], id, 'joined', state, '')
  return 'ok'
end
if what == 'amended' then
  if at_deadline(KEYS[1], id) ~= 'pending' then return 'final' end
  local f = redis.call('HMGET', KEYS[1], 'av', 'nd', 'sp', 'rn')
  if (f[1] or '0') ~= ARGV[3] then return 'changed' end
  redis.call('HSET', KEYS[1], 'av', ms(tonumber(ARGV[3]) + 1), 'req', ARGV[4], 'nd', ARGV[5], 'sp', ARGV[8])
  if ARGV[6] ~= '' and redis.call('HEXISTS', KEYS[1], 'esc') == 1 then redis.call('HSET', KEYS[1], 'esc', ARGV[6]) end
  if ARGV[7] == '1' then event(KEYS[1], id, 'widened', 'pending', ARGV[4]) end
  for d = tonumber(f[2]), tonumber(ARGV[5]) - 1 do
    if redis.call('HEXISTS', KEYS[1], 'f' .. d) == 0 then enqueue('post', id, d, now) end
  end
  local n = tonumber(f[4] or '0')
  for k = 11, #ARGV do
    redis.call('HSET', KEYS[1], 'r' .. ms(n), ARGV[k])
    enqueue('remind', id, n, now + tonumber(ARGV[10]))
    n = n + 1
  end
  redis.call('HSET', KEYS[1], 'rn', ms(n))
  if #ARGV > 10 then event(KEYS[1], id, 'reminded', 'pending', '') end
  if tonumber(ARGV[9]) >= 0 then enqueue('step', id, ARGV[8], now + tonumber(ARGV[9])) end
  redis.call('HINCRBY', KEYS[1], 'rev', 1)
  edit_all(KEYS[1], id, 0)
  return 'ok'
end
if what == 'redraw' then
  edit(KEYS[1], id, ARGV[3], now)
  return 'ok'
end
if what == 'completed' then
  if redis.call('HSETNX', KEYS[1], 'co', ARGV[3]) == 0 then return 'kept' end
  event(KEYS[1], id, 'completed', state, ARGV[3])
else
  if redis.call('HSETNX', KEYS[1], 'dv', ms(now)) == 0 then return 'kept' end
  event(KEYS[1], id, 'delivered', state, '')
end
redis.call('HINCRBY', KEYS[1], 'rev', 1)
edit_all(KEYS[1], id, 0)
return 'ok'
