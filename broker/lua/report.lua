-- Merges a report into the status of a session.
-- KEYS 1 status of the session
--      2 reported sessions, by their last report
-- ARGV 1 agent and session
--      2 ms for which the status is kept
--      3 largest number of sessions
--      4 time of the event in ms, or 0 for now
--      5 state ('' for no change)
--      6 prompt that started it, which is the title unless there is one
--      7 step ('' for none)
--      8 starts a session if it is unknown (0|1)
--      9.. names and values of further fields
-- returns {'missing'}, or {changed at once (0|1), further sessions to forget...}
local key = KEYS[1]
local was = call('HMGET', key, 'started', 'state', 'at', 'title')
if not was[1] and ARGV[8] == '0' then return {'missing'} end
local at = math.min(tonumber(ARGV[4]), now)
if at == 0 then at = now end
local urgent = 0
local set = {'updated', ms(now)}
local function put(name, value) set[#set + 1] = name set[#set + 1] = value end
if not was[1] then
  put('started', ms(now))
  put('since', ms(now))
  urgent = 1
end
if ARGV[5] ~= '' and at >= tonumber(was[3] or '0') then
  put('at', ms(at))
  if ARGV[5] ~= was[2] then
    put('state', ARGV[5])
    put('since', ms(now))
    call('HDEL', key, 'waits')
    urgent = 1
  end
end
if ARGV[6] ~= '' and not was[4] then
  put('title', ARGV[6])
  urgent = 1
end
if ARGV[7] ~= '' then
  put('step', ARGV[7])
  put('stepped', ms(now))
  call('HINCRBY', key, 'steps', 1)
end
local room = call('HLEN', key) < 60 -- for the names of subagents
for n = 9, #ARGV, 2 do
  if room or string.sub(ARGV[n], 1, 4) ~= 'sub:' then put(ARGV[n], ARGV[n + 1]) end
  if ARGV[n] == 'title' and ARGV[n + 1] ~= was[4] or ARGV[n] == 'last' or ARGV[n] == 'waits' then urgent = 1 end
end
call('HSET', key, unpack(set))
call('PEXPIRE', key, ARGV[2])
call('ZADD', KEYS[2], ms(now), ARGV[1])
call('ZREMRANGEBYSCORE', KEYS[2], '-inf', '(' .. ms(now - tonumber(ARGV[2])))
local out = {ms(urgent)}
local over = call('ZCARD', KEYS[2]) - tonumber(ARGV[3])
if over > 0 then
  for _, name in ipairs(call('ZRANGE', KEYS[2], 0, over - 1)) do out[#out + 1] = name end
  call('ZREMRANGEBYRANK', KEYS[2], 0, over - 1)
end
return out
