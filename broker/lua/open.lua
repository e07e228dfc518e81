-- Stores a new interaction with its deadline, posting jobs and event. One that
-- asks again takes over the messages of the interaction before it.
-- KEYS 1-10 as in lib.lua  11 idempotency key  12 index of all  13 index of the
--      session; only with argument 21:  14 record of the interaction
--      before  15 record of the first  16 the identical request that is pending
--      17 batch that is open  18 record of that batch's first interaction
--      last, with an idempotency key: where older versions kept it
-- ARGV 1 id  2 digest of what the agent sent  3 interaction  4 timeout in ms
--      5 state after the timeout  6 response after the timeout
--      7 number of destinations  8 agent  9 retention in ms  10 hold in ms
--      11 grace in ms: how long posts are held back  12 has front ends (0|1)
--      13 number of webhooks  14 session  15 correlation ids as JSON ('' for none)
--      16 response after the hold ('' if it cannot be held)
--      17 has idempotency key (0|1)
--      18 channel of this daemon if it waits from the start ('')
--      19 longest hold there can be in ms  20 its agent is limited (0|1)
--      21 what few openings need, as one JSON object; not there if there is none
--      of it. It is openMore in open.go; a member that is left out means no:
--      state         state now, if it ends at once
--      response      response now
--      escalated     interaction once escalated
--      destinations  number of its destinations
--      again         its timeout in ms
--      previous      id of the interaction before
--      superseded    response of that one if it is still pending
--      root          id of the first, whose messages it takes over
--      queued        it is queued from the start
--      join          it joins an identical one: 1 | id of one that is over by now |
--                    join: and the id of one that is pending
--      window        batch window in ms
--      batch         id of that batch's first interaction, if known
--      share         how many share a batch
--      step          ms until the first step of its escalation
--      failures      reasons by destination index: who cannot be reached
-- returns {'new'|'old'|'conflict'|'taken'|'missing'|'unversioned', id, now in ms}, {'twin', id} for an
--      identical one to look at, {'joined', id}, or {'batch', id} for the first of the batch to name
local more = ARGV[21] and cjson.decode(ARGV[21]) or {}
local id, keep = ARGV[1], tonumber(ARGV[9])
local timeout, nd = tonumber(ARGV[4]), tonumber(ARGV[7])
local life = ms(timeout + keep)
if ARGV[17] == '1' then
  local seen = call('GET', KEYS[11]) or call('GET', KEYS[#KEYS])
  if seen then
    local first, digest = string.match(seen, '^(.-)|(.*)$')
    if not string.find(digest, ':', 1, true) then return {'unversioned', first} end
    if digest ~= ARGV[2] then return {'conflict', first} end
    return {'old', first}
  end
end
local before, join = more.previous, more.join
local prev = nil
if before then
  prev = read(KEYS[14], before)
  if not prev then return {'missing', before} end
  at_deadline(prev)
  local next = call('HGET', KEYS[14], 'nx')
  if next then return {next == id and 'old' or 'taken', next} end
end
if join then
  local twin = call('GET', KEYS[16])
  if twin == id then return {'old', id} end
  if twin and twin ~= join then
    if join ~= 'join:' .. twin then return {'twin', twin} end
    if ARGV[17] == '1' then call('SET', KEYS[11], twin .. '|' .. ARGV[2], 'PX', life) end
    return {'joined', twin}
  end
end
local window, first = more.window or 0, nil
if window > 0 then
  local open = call('LRANGE', KEYS[17], 0, -1)
  if open[1] and #open < more.share then
    if open[1] ~= more.batch then return {'batch', open[1]} end
    first = open[1]
  end
end

-- The first write tells as well whether the id is there already.
if call('ZADD', KEYS[12], 'NX', ms(now), ARGV[1]) == 0 then return {'old', ARGV[1]} end
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
if more.escalated then
  put('esc', more.escalated)
  put('en', ms(more.destinations))
  put('et', ms(more.again))
end
local failed = {}
for d, reason in pairs(more.failures or {}) do
  failed[d] = true
  put('f' .. d, reason)
end
call('HSET', KEYS[1], unpack(set))
call('PEXPIRE', KEYS[1], life)
if ARGV[17] == '1' then call('SET', KEYS[11], id .. '|' .. ARGV[2], 'PX', life) end
if r.se ~= '' then
  call('ZADD', KEYS[13], r.created, id)
  call('PEXPIRE', KEYS[13], ms(timeout + tonumber(ARGV[19]) + keep))
end
local m = {}
if prev then
  call('HSET', KEYS[14], 'nx', id)
  if more.root then
    call('HSET', KEYS[15], 'hd', id)
    call('PEXPIRE', KEYS[15], ms(timeout + tonumber(ARGV[19]) + keep)) -- it leads to whatever round its messages show
    m = messages(KEYS[14], nd)
    r.m = m
  elseif prev.st ~= 'pending' then
    bump(prev)
    edit_all(prev, 0) -- it says that it was asked again
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
if r.lim == '1' then call('HINCRBY', KEYS[10], r.ag, 1) end
if more.state then
  finish(r, more.state, more.response, now, 'open')
  return {'new', id, r.created}
end
call('ZADD', KEYS[2], ms(r.deadline), id)
if more.step then add_job('step', id, 0, now + more.step) end
if join then call('SET', KEYS[16], id, 'PX', ARGV[4]) end
local due = now + tonumber(ARGV[11])
if first then
  call('RPUSH', KEYS[17], id)
  call('HSET', KEYS[1], 'b', first)
  call('HSET', KEYS[18], 'bm', call('HGET', KEYS[18], 'bm') .. ',' .. id)
  event(r, 'batched', 'pending', '"' .. first .. '"')
  local shown = read(KEYS[18], first)
  bump(shown)
  edit_all(shown, 0) -- where it is shown already
  return {'new', id, r.created}
end
if window > 0 then
  due = due + window + 50 -- the list of the batch is closed by then
  call('DEL', KEYS[17])
  call('RPUSH', KEYS[17], id)
  call('PEXPIRE', KEYS[17], ms(window))
  call('HSET', KEYS[1], 'bm', id)
end
for d = 0, nd - 1 do
  if m[d + 1] then
    edit(r, d, now + 100) -- after the answer to the click that led here
  elseif not failed[tostring(d)] then
    add_job('post', id, d, due)
  end
end
if more.queued then queue(r, now, tonumber(r.hold)) end
return {'new', id, r.created}
