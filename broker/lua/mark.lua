-- Records a change of an interaction without resolving it, except that the
-- failure of the last destination makes it undeliverable.
-- KEYS 1-8 as in base.lua
-- ARGV 1 ID
--      2 posted|failed|sent|delivered|queued|completed|joined|left|late|redraw|
--        part|shown|amended|refresh|deleted
--      posted:    3 destination
--                 4 message reference
--                 5 revision shown
--                 6 event data
--                 7 content that it shows in full ('' for none)
--                 8 ms until it is drawn again in any case (0 for never)
--      failed:    3 destination
--                 4 reason
--                 5 event data
--                 6 response if no destination is left
--                 7 it will be shown elsewhere (0|1)
--      sent:      3 the caller, if only one may get it ('' otherwise)
--      queued:    3 hold in ms
--                 4 proof of the hold
--      completed: 3 completion
--      joined:    3 the caller ('' for none)
--                 4 it is an identical request, not a repetition (0|1)
--      left:      3 the caller, or '*' for one of them
--                 4 only its connection has ended (0|1)
--      late:      3 destination
--                 4 delay in ms
--      redraw:    3 destination
--      refresh:   3 delay in ms
--      part:      3 destination
--                 4 content
--                 5 number of parts before this one
--                 6 message reference
--      shown:     3 destination
--                 4 content
--      deleted:   3 destination
--                 4 message reference
--                 5 it is posted again (0|1)
--      amended:   3 number of amendments so far
--                 4 interaction
--                 5 number of destinations
--                 6 more people are asked (0|1)
--                 7 next step ('' to leave it alone)
--                 8 ms until then ('' for none)
--                 9 ms until the reminders
--                 10 voters whose approvals no longer count, each between two \30
--                 11.. reminders
-- returns 'missing' | 'ok' | 'last' (no other caller waits) | 'kept' (nothing changed) | 'final' (too late) |
--      'taken' (another caller has it) | 'changed' (another amendment, or a part of another daemon, came first)
local id, what = ARGV[1], ARGV[2]
local r = read(KEYS[1], id)
if not r then return 'missing' end
if what == 'posted' then
  local d = ARGV[3]
  if ARGV[7] ~= '' then call('HSET', KEYS[1], 's' .. d, ARGV[7]) end
  if call('HGET', KEYS[1], 'm' .. d) == ARGV[4] then return 'kept' end
  call('HSET', KEYS[1], 'm' .. d, ARGV[4])
  call('HDEL', KEYS[1], 'f' .. d, 'l' .. d)
  event(r, 'posted', r.st, ARGV[6])
  if ms(r.rev + 1) ~= ARGV[5] then
    edit(r, d, now)
  elseif ARGV[8] ~= '0' and r.st == 'pending' then
    edit(r, d, now + tonumber(ARGV[8]))
  end
  return 'ok'
end
if what == 'failed' then
  local d = ARGV[3]
  -- A message that an earlier round posted does not show this one.
  local m, s = call('HEXISTS', KEYS[1], 'm' .. d), call('HEXISTS', KEYS[1], 's' .. d)
  if call('HEXISTS', KEYS[1], 'f' .. d) == 1 or m == 1 and s == 1 then return 'kept' end
  call('HSET', KEYS[1], 'f' .. d, ARGV[4])
  event(r, 'failed', r.st, ARGV[5])
  if r.st == 'pending' then
    if r.fe == '1' or ARGV[7] == '1' then return 'ok' end -- someone can still answer
    for k = 0, tonumber(r.nd) - 1 do
      if call('HEXISTS', KEYS[1], 'f' .. k) == 0 then return 'ok' end
    end
    finish(r, 'undeliverable', ARGV[6], now, 'undeliverable')
  end
  return 'ok'
end
if what == 'queued' then
  if at_deadline(r) ~= 'pending' then return 'final' end
  if ARGV[4] ~= '' then call('HSET', KEYS[1], 'hq', ARGV[4]) end
  if r.q then -- it was deferred before, and stays open for another time
    bump(r)
    defer(r, tonumber(ARGV[3]), 'expired')
    edit_all(r, 0)
    return 'ok'
  end
  queue(r, now, tonumber(ARGV[3]))
  return 'ok'
end
if what == 'joined' then
  if ARGV[3] ~= '' then
    local all = call('HGET', KEYS[1], 'cl') or '*'
    if ARGV[3] == '*' or not string.find(',' .. all .. ',', ',' .. ARGV[3] .. ',', 1, true) then
      call('HSET', KEYS[1], 'cl', all .. ',' .. ARGV[3])
    end
  end
  if ARGV[4] == '0' then return 'ok' end
  call('HINCRBY', KEYS[1], 'jn', 1)
  bump(r)
  edit_all(r, 0)
  event(r, 'joined', r.st, '')
  return 'ok'
end
if what == 'amended' then
  if at_deadline(r) ~= 'pending' then return 'final' end
  local f = call('HMGET', KEYS[1], 'av', 'rn')
  local before = tonumber(r.nd)
  if (f[1] or '0') ~= ARGV[3] then return 'changed' end
  r.nd = ARGV[5]
  call('HSET', KEYS[1], 'av', ms(tonumber(ARGV[3]) + 1), 'cur', ARGV[4], 'c', pack(r))
  if ARGV[7] ~= '' then call('HSET', KEYS[1], 'sp', ARGV[7]) end
  if ARGV[10] ~= '' then
    local kept = {}
    for person, state, rest in string.gmatch(call('HGET', KEYS[1], 'vs') or '', '([^\30\31]*)\31([^\30\31]*)\31([^\30]*)\30') do
      if state ~= 'approved' or not string.find(ARGV[10], '\30' .. person .. '\30', 1, true) then
        kept[#kept + 1] = person .. '\31' .. state .. '\31' .. rest .. '\30'
      end
    end
    call('HSET', KEYS[1], 'vs', table.concat(kept))
  end
  if ARGV[6] == '1' then event(r, 'widened', 'pending', ARGV[4]) end
  for d = before, tonumber(ARGV[5]) - 1 do
    if call('HEXISTS', KEYS[1], 'f' .. d) == 0 then enqueue('post', id, d, now) end
  end
  local n = tonumber(f[2] or '0')
  for k = 11, #ARGV do
    call('HSET', KEYS[1], 'r' .. ms(n), ARGV[k])
    enqueue('remind', id, n, now + tonumber(ARGV[9]))
    n = n + 1
  end
  call('HSET', KEYS[1], 'rn', ms(n))
  if #ARGV > 10 then event(r, 'reminded', 'pending', '') end
  if ARGV[8] ~= '' then enqueue('step', id, ARGV[7], now + tonumber(ARGV[8])) end
  bump(r)
  edit_all(r, 0)
  return 'ok'
end
if what == 'left' then
  local rest, gone = {}, false
  for c in string.gmatch(call('HGET', KEYS[1], 'cl') or '*', '[^,]+') do
    if not gone and c == ARGV[3] then gone = true else rest[#rest + 1] = c end
  end
  if not gone and ARGV[3] == '*' then
    table.remove(rest, 1)
  elseif not gone then
    for n, c in ipairs(rest) do
      if c == '*' then
        table.remove(rest, n)
        gone = true
        break
      end
    end
    if not gone then return 'kept' end
  end
  if #rest == 0 then
    if ARGV[4] == '0' or not awaited(r) then return 'last' end
    rest[1] = '*' -- another connection of the caller
  end
  call('HSET', KEYS[1], 'cl', table.concat(rest, ','))
  return 'ok'
end
if what == 'sent' then
  if call('HSETNX', KEYS[1], 'sn', ms(now)) == 1 then
    if ARGV[3] ~= '' then call('HSET', KEYS[1], 'sc', ARGV[3]) end
    return 'ok'
  end
  local taker = call('HGET', KEYS[1], 'sc')
  return taker and ARGV[3] ~= '' and taker ~= ARGV[3] and 'taken' or 'kept'
end
if what == 'late' then
  call('HSET', KEYS[1], 'l' .. ARGV[3], ms(now + tonumber(ARGV[4])))
  return 'ok'
end
if what == 'part' then
  -- The content on the first line, then one reference per line.
  local had = call('HGET', KEYS[1], 'p' .. ARGV[3]) or ''
  local content, refs = string.match(had, '^(%x+)\n(.*)$')
  if content ~= ARGV[4] then refs = '' end
  local n, last = 0, ''
  for ref in string.gmatch(refs, '[^\n]+') do n, last = n + 1, ref end
  if ms(n - 1) == ARGV[5] and last == ARGV[6] then return 'kept' end -- a repeat
  if ms(n) ~= ARGV[5] then return 'changed' end
  call('HSET', KEYS[1], 'p' .. ARGV[3], ARGV[4] .. '\n' .. refs .. ARGV[6] .. '\n')
  return 'ok'
end
if what == 'deleted' then
  local d = ARGV[3]
  if call('HGET', KEYS[1], 'm' .. d) ~= ARGV[4] then return 'kept' end
  call('HDEL', KEYS[1], 'm' .. d, 's' .. d, 'p' .. d)
  if ARGV[5] == '1' and r.st == 'pending' then enqueue('post', id, d, now) end
  return 'ok'
end
if what == 'shown' then
  call('HSET', KEYS[1], 's' .. ARGV[3], ARGV[4])
  return 'ok'
end
if what == 'redraw' then
  edit(r, ARGV[3], now)
  return 'ok'
end
if what == 'refresh' then
  bump(r)
  local nd = tonumber(r.nd)
  local m = messages(KEYS[1], nd)
  for d = 0, nd - 1 do
    if m[d + 1] then
      local due, at = now + tonumber(ARGV[3]), call('ZSCORE', KEYS[3], 'edit:' .. r.rt .. ':' .. d)
      edit(r, d, math.min(due, tonumber(at or due)))
    end
  end
  return 'ok'
end
if what == 'completed' then
  if call('HSETNX', KEYS[1], 'co', ARGV[3]) == 0 then return 'kept' end
  event(r, 'completed', r.st, ARGV[3])
else
  if call('HSETNX', KEYS[1], 'dv', ms(now)) == 0 then return 'kept' end
  event(r, 'delivered', r.st, '')
end
bump(r)
edit_all(r, 0)
return 'ok'
