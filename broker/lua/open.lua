-- Stores a new interaction with its deadline, posting jobs and event. A
-- follow-up takes over the messages of the interaction before it.
-- KEYS 1-8 as in base.lua
--      9 name of the call
--      10 name of the retries of its caller
--      11 index of the session
--      12 stopped sessions
--      13 record of the interaction before; this and the next two are passed
--         only with argument 24
--      14 record of the first round
--      15 pending duplicate
-- ARGV 1 ID
--      2 digest of the request as the agent sent it
--      3 interaction
--      4 timeout in ms
--      5 state after the timeout
--      6 response after the timeout
--      7 number of destinations
--      8 agent
--      9 retention in ms
--      10 hold in ms
--      11 grace period in ms: the delay before cards are posted
--      12 has front ends (0|1)
--      13 number of messages when it closes
--      14 session
--      15 correlation IDs as JSON ('' for none)
--      16 response after the hold ('' if it cannot be held)
--      17 names that it has: 1 of the call, 2 of the retries, 3 both, or 0
--      18 channel of this daemon if a caller waits from the start, otherwise ''
--      19 longest possible hold in ms
--      20 its agent is limited (0|1)
--      21 ms until the first step of its escalation ('' for none)
--      22 agent and session, if nothing is stored in a stopped session, otherwise
--         ''
--      23 caller ('' for none)
--      24 openMore of open.go as JSON, absent if all members are; an absent
--         member means that the feature is not used:
--           state         state if it is resolved immediately
--           response      response if it is resolved immediately
--           previous      ID of the interaction before
--           superseded    response of that one if it is still pending
--           root          ID of the first round, whose messages it takes over
--           queued        it is deferred from the start
--           earlier       an earlier call of the name: its ID if that one is
--                         over for this call, or "join:" and its ID
--           join          it joins a duplicate: 1, the ID of a duplicate that is
--                         closed by now, or "join:" and the ID of a pending one
--           failures      reasons by index of the destinations that cannot be
--                         reached
-- returns {'new'|'old'|'again'|'conflict'|'taken'|'missing', ID, now in ms}, {'stopped', the stop as JSON}, {'twin', ID} for a duplicate to check,
--      {'earlier', ID, now in ms} for an earlier call to check, or {'joined', ID}
local more = ARGV[24] and cjson.decode(ARGV[24]) or {}
local id, keep = ARGV[1], tonumber(ARGV[9])
local timeout, nd = tonumber(ARGV[4]), tonumber(ARGV[7])
local life = ms(timeout + keep)
local named, retried = ARGV[17] == '1' or ARGV[17] == '3', ARGV[17] == '2' or ARGV[17] == '3'
-- Names an interaction, so that repetitions and retries find it. Of another call,
-- mark is 'again:', so that a retry is a repetition as well.
local function name(found, mark)
  if named then call('SET', KEYS[9], found .. '|' .. ARGV[2], 'PX', life) end
  if retried then call('SET', KEYS[10], (mark or '') .. found, 'PX', life) end
end
if retried then
  local own = call('GET', KEYS[10])
  local first = own and string.match(own, '^again:(.*)$')
  if first then return {'again', first} end
  if own then return {'old', own} end
end
if named then
  local seen = call('GET', KEYS[9])
  if seen then
    local first, digest = string.match(seen, '^(.-)|(.*)$')
    if digest ~= ARGV[2] then return {'conflict', first} end
    if more.earlier == 'join:' .. first then
      name(first, 'again:')
      return {'again', first}
    end
    if more.earlier ~= first then return {'earlier', first, ms(now)} end
  end
end
if ARGV[22] ~= '' then
  local stop = call('HGET', KEYS[12], ARGV[22])
  if stop then return {'stopped', stop} end
end
local before, join = more.previous, more.join
local prev = nil
if before then
  prev = read(KEYS[13], before)
  if not prev then return {'missing', before} end
  at_deadline(prev)
  local next = call('HGET', KEYS[13], 'nx')
  if next then return {next == id and 'old' or 'taken', next} end
end
if join then
  local twin = call('GET', KEYS[15])
  if twin == id then return {'old', id} end
  if twin and twin ~= join then
    if join ~= 'join:' .. twin then return {'twin', twin} end
    name(twin)
    return {'joined', twin}
  end
end

if call('EXISTS', KEYS[1]) == 1 then return {'old', id} end
local r = {key = KEYS[1], id = id, st = 'pending', created = ms(now), deadline = now + timeout, after = ARGV[5], keep = ARGV[9],
  hold = ARGV[10], fe = ARGV[12], hooks = ARGV[13], nd = ARGV[7], lim = ARGV[20], m = {}, ag = ARGV[8], se = ARGV[14], rt = id, rev = 0}
local set = {'req', ARGV[3], 'c', pack(r), 'to', ARGV[6]}
local function put(name, value)
  if value ~= '' then set[#set + 1] = name set[#set + 1] = value end
end
if ARGV[15] ~= '' then r.x = ARGV[15] end
if more.root then r.rt = more.root end
if ARGV[18] ~= '' then r.w = ARGV[18] end
put('se', r.se)
put('x', ARGV[15])
put('tq', ARGV[16])
put('rt', more.root or '')
put('w', ARGV[18])
put('cl', ARGV[23])
if ARGV[21] ~= '' and not more.state then put('sp', '0') end
local failed = {}
for d, reason in pairs(more.failures or {}) do
  failed[d] = true
  put('f' .. d, reason)
end
call('HSET', KEYS[1], unpack(set))
call('PEXPIRE', KEYS[1], life)
name(id)
if r.se ~= '' then
  call('ZADD', KEYS[11], r.created, id)
  call('PEXPIRE', KEYS[11], ms(timeout + tonumber(ARGV[19]) + keep))
end
local m = {}
if prev then
  call('HSET', KEYS[13], 'nx', id)
  if more.root then
    call('HSET', KEYS[14], 'hd', id)
    call('PEXPIRE', KEYS[14], ms(timeout + tonumber(ARGV[19]) + keep)) -- it leads to the round that its messages show
    m = messages(KEYS[13], nd)
    r.m = m
  elseif prev.st ~= 'pending' then
    bump(prev)
    edit_all(prev, 0) -- it shows that there is a follow-up
  end
  for d = 0, nd - 1 do
    if m[d + 1] then
      call('HSET', KEYS[1], 'm' .. d, m[d + 1])
      call('HDEL', KEYS[1], 'f' .. d)
    end
  end
  if prev.st == 'pending' then finish(prev, 'superseded', more.superseded, now, 'reprompt') end
  event(prev, 'reprompted', prev.st, '"' .. id .. '"')
end
event(r, 'interaction_request', 'pending', '')
if r.lim == '1' then call('HINCRBY', KEYS[8], r.ag, 1) end
if more.state then
  finish(r, more.state, more.response, now, 'open')
  return {'new', id, r.created}
end
call('ZADD', KEYS[2], ms(r.deadline), id)
if ARGV[21] ~= '' then add_job('step', id, 0, now + tonumber(ARGV[21])) end
if join then call('SET', KEYS[15], id, 'PX', ARGV[4]) end
local due = now + tonumber(ARGV[11])
for d = 0, nd - 1 do
  if m[d + 1] then
    edit(r, d, now + 100) -- after the reply to the click that caused it
  elseif not failed[tostring(d)] then
    add_job('post', id, d, due)
  end
end
if more.queued then queue(r, now, tonumber(r.hold)) end
return {'new', id, r.created}
