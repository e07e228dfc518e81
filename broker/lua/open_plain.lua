-- Stores a new interaction in the usual case. open.lua does so in every case,
-- and leaves the same; open.go calls it if this one answers 'slow'.
-- KEYS 1-5 as in base.lua; those that are not used may be any key
--      6 number of pending requests of each limited agent
--      7 index of the session
--      8 stopped sessions
--      9 idempotency key, absent without one
--      10 where older versions stored it
-- ARGV 1 ID
--      2 interaction
--      3 timeout in ms
--      4 life of the record in ms
--      5 version of the record, and 6 its packed values after the deadline; see
--        pack in lib.lua
--      7 agent
--      8 grace period in ms
--      9 number of destinations
--      10 channel of this daemon if a caller waits from the start, otherwise ''
--      11 response after the timeout ('' for the usual one); it and the next are
--         absent if all of them are empty
--      12 session
--      13 life of the index of the session in ms
--      14 correlation IDs as JSON
--      15 response after the hold
--      16 agent and session, if nothing is stored in a stopped session
--      17 ID and digest of the request for the idempotency key
--      18 its agent is limited: 1
--      19 ms until the first step of its escalation
-- returns 'slow' if nothing was stored, otherwise now in ms
local key, id = KEYS[1], ARGV[1]
if KEYS[9] then
  if call('EXISTS', key, KEYS[9], KEYS[10]) > 0 then return 'slow' end
elseif call('EXISTS', key) == 1 then
  return 'slow'
end
local r = {id = id, ag = ARGV[7], se = ''}
local created, deadline = ms(now), ms(now + ARGV[3])
local set = {'req', ARGV[2], 'c', ARGV[5] .. '|' .. created .. '|' .. deadline .. '|' .. ARGV[6]}
local function put(name, value)
  if value ~= '' then set[#set + 1] = name set[#set + 1] = value end
end
put('w', ARGV[10])
if ARGV[11] then
  if ARGV[16] ~= '' and call('HEXISTS', KEYS[8], ARGV[16]) == 1 then return 'slow' end
  r.se = ARGV[12]
  put('to', ARGV[11])
  put('se', r.se)
  put('x', ARGV[14])
  put('tq', ARGV[15])
  if ARGV[19] ~= '' then put('sp', '0') end
  if ARGV[14] ~= '' then r.x = ARGV[14] end
  if KEYS[9] then call('SET', KEYS[9], ARGV[17], 'PX', ARGV[4]) end
  if r.se ~= '' then
    call('ZADD', KEYS[7], created, id)
    call('PEXPIRE', KEYS[7], ARGV[13])
  end
  if ARGV[18] == '1' then call('HINCRBY', KEYS[6], r.ag, 1) end
end
call('HSET', key, unpack(set))
call('PEXPIRE', key, ARGV[4])
event(r, 'interaction_request', 'pending', '')
call('ZADD', KEYS[2], deadline, id)
local jobs, due = {}, ms(now + ARGV[8])
for d = 0, ARGV[9] - 1 do jobs[#jobs + 1] = due jobs[#jobs + 1] = 'post:' .. id .. ':' .. d end
if ARGV[19] and ARGV[19] ~= '' then jobs[#jobs + 1] = ms(now + ARGV[19]) jobs[#jobs + 1] = 'step:' .. id .. ':0' end
if jobs[1] then call('ZADD', KEYS[3], unpack(jobs)) end
return created
