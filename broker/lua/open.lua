-- Stores a new interaction with its deadline, posting jobs and event. One that
-- asks again takes over the messages of the interaction before it.
-- KEYS 1-11 as in lib.lua  12 idempotency key  13 index of all  14 index of the
--      session  15 record of the interaction before  16 record of the first
--      17 the identical request that is pending  18 batch that is open
--      19 record of that batch's first interaction
-- ARGV 1 id  2 digest of the whole request  3 interaction  4 timeout in ms
--      5 state after the timeout  6 response after the timeout
--      7 state now  8 response now ('' while pending)  9 number of destinations
--      10 agent  11 session  12 tool call  13 turn  14 response id
--      15 retention in ms  16 hold in ms  17 response after the hold
--      18 has idempotency key (0|1)  19 has session (0|1)  20 has front ends (0|1)
--      21 interaction once escalated ('' if it is not)  22 its destinations  23 its timeout in ms
--      24 id of the interaction before ('' for none)  25 its response if it is still pending
--      26 id of the first  27 queued from the start (0|1)
--      28 longest hold there can be in ms
--      29 grace in ms: how long posts are held back
--      30 joins an identical one: 0 | 1 | id of one that is over by now |
--         join: and the id of one that is pending  31 batch window in ms (0: none)
--      32 id of that batch's first interaction ('' for not known)
--      33 how many share a batch  34 number of webhooks
--      35 ms until the first step of its escalation ('' for none)
--      36.. pairs of destination index and reason: who can not be reached
-- returns {'new'|'old'|'conflict'|'taken'|'missing', id}, {'twin', id} for an
--      identical one to look at, {'joined', id}, or {'batch', id} for the first of the batch to name
if redis.call('EXISTS', KEYS[1]) == 1 then return {'old', ARGV[1]} end
if ARGV[18] == '1' then
  local seen = redis.call('GET', KEYS[12])
  if seen then
    local id, digest = string.match(seen, '^(.-)|(.*)$')
    if digest ~= ARGV[2] then return {'conflict', id} end
    return {'old', id}
  end
end
local prev = ARGV[24]
if prev ~= '' then
  at_deadline(KEYS[15], prev)
  local f = redis.call('HMGET', KEYS[15], 'st', 'nx')
  if not f[1] then return {'missing', prev} end
  if f[2] then return {'taken', f[2]} end
end
if ARGV[30] ~= '0' then
  local twin = redis.call('GET', KEYS[17])
  if twin and twin ~= ARGV[30] then
    if ARGV[30] ~= 'join:' .. twin then return {'twin', twin} end
    if ARGV[18] == '1' then redis.call('SET', KEYS[12], twin .. '|' .. ARGV[2], 'PX', ms(tonumber(ARGV[4]) + tonumber(ARGV[15]))) end
    return {'joined', twin}
  end
end
local window, first = tonumber(ARGV[31]), nil
if window > 0 then
  local open = redis.call('LRANGE', KEYS[18], 0, -1)
  if open[1] and #open < tonumber(ARGV[33]) then
    if open[1] ~= ARGV[32] then return {'batch', open[1]} end
    first = open[1]
  end
end

local id, keep = ARGV[1], tonumber(ARGV[15])
local timeout, nd = tonumber(ARGV[4]), tonumber(ARGV[9])
local deadline = now + timeout
redis.call('HSET', KEYS[1], 'req', ARGV[3], 'st', 'pending', 'ct', ms(now), 'dl', ms(deadline), 'tst', ARGV[5], 'to', ARGV[6],
  'nd', ARGV[9], 'ag', ARGV[10], 'se', ARGV[11], 'tc', ARGV[12], 'tu', ARGV[13], 'ri', ARGV[14], 'rev', '1',
  'kp', ARGV[15], 'ho', ARGV[16], 'tq', ARGV[17], 'fe', ARGV[20], 'rt', ARGV[26], 'wh', ARGV[34])
if ARGV[21] ~= '' then redis.call('HSET', KEYS[1], 'esc', ARGV[21], 'en', ARGV[22], 'et', ARGV[23]) end
redis.call('PEXPIRE', KEYS[1], ms(timeout + keep))
if ARGV[18] == '1' then redis.call('SET', KEYS[12], id .. '|' .. ARGV[2], 'PX', ms(timeout + keep)) end
redis.call('ZADD', KEYS[13], ms(now), id)
if ARGV[19] == '1' then
  redis.call('ZADD', KEYS[14], ms(now), id)
  redis.call('PEXPIRE', KEYS[14], ms(timeout + tonumber(ARGV[28]) + keep))
end
local failed = {}
for n = 36, #ARGV, 2 do
  failed[ARGV[n]] = true
  redis.call('HSET', KEYS[1], 'f' .. ARGV[n], ARGV[n + 1])
end
if prev ~= '' then
  redis.call('HSET', KEYS[15], 'nx', id)
  redis.call('HSET', KEYS[16], 'hd', id)
  redis.call('PEXPIRE', KEYS[16], ms(timeout + tonumber(ARGV[28]) + keep)) -- it leads to whatever round its messages show
  for d = 0, nd - 1 do
    local m = redis.call('HGET', KEYS[15], 'm' .. d)
    if m then
      redis.call('HSET', KEYS[1], 'm' .. d, m)
      redis.call('HDEL', KEYS[1], 'f' .. d)
    end
  end
  if redis.call('HGET', KEYS[15], 'st') == 'pending' then finish(KEYS[15], prev, 'superseded', ARGV[25], now, 'reprompt') end
  event(KEYS[15], prev, 'reprompted', redis.call('HGET', KEYS[15], 'st'), '"' .. id .. '"')
end
event(KEYS[1], id, 'interaction_request', 'pending', ARGV[3])
redis.call('HINCRBY', KEYS[11], ARGV[10], 1)
if ARGV[7] ~= 'pending' then
  finish(KEYS[1], id, ARGV[7], ARGV[8], now, 'open')
  return {'new', id}
end
redis.call('ZADD', KEYS[2], ms(deadline), id)
if ARGV[35] ~= '' then enqueue('step', id, 0, now + tonumber(ARGV[35])) end
redis.call('ZADD', KEYS[3], ms(now), id)
if ARGV[30] ~= '0' then redis.call('SET', KEYS[17], id, 'PX', ms(timeout)) end
local due = now + tonumber(ARGV[29])
if first then
  redis.call('RPUSH', KEYS[18], id)
  redis.call('HSET', KEYS[1], 'b', first)
  redis.call('HSET', KEYS[19], 'bm', redis.call('HGET', KEYS[19], 'bm') .. ',' .. id)
  redis.call('HINCRBY', KEYS[19], 'rev', 1)
  event(KEYS[1], id, 'batched', 'pending', '"' .. first .. '"')
  edit_all(KEYS[19], first, 0) -- where it is shown already
  return {'new', id}
end
if window > 0 then
  due = due + window + 50 -- the list of the batch is closed by then
  redis.call('DEL', KEYS[18])
  redis.call('RPUSH', KEYS[18], id)
  redis.call('PEXPIRE', KEYS[18], ARGV[31])
  redis.call('HSET', KEYS[1], 'bm', id)
end
for d = 0, nd - 1 do
  if redis.call('HEXISTS', KEYS[1], 'm' .. d) == 1 then
    edit(KEYS[1], id, d, now + 100) -- after the answer to the click that led here
  elseif not failed[tostring(d)] then
    enqueue('post', id, d, due)
  end
end
if ARGV[27] == '1' then queue(KEYS[1], id, now, tonumber(ARGV[16])) end
return {'new', id}
