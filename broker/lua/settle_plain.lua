-- Resolves a pending interaction in the usual case. settle.lua does so in every
-- case, and leaves the same; settle.go calls it if this one answers 'slow'.
-- KEYS as in settle.lua
-- ARGV as in settle.lua
-- returns as settle.lua, or 'slow' if nothing was done
local id, key = ARGV[1], KEYS[1]
local f = call('HMGET', key, 'c', 'st', 'n', 'se', 'x', 'w', 'rev', 'av', 'sp', 'q', 'b', 'rt', 'm0', 'm1', 'm2', 's' .. ARGV[7])
if not f[1] then return 'missing' end
local deadline, hooks, nd, lim, agent = string.match(f[1], '^[12]|%d+|(%d+)|%a+|%d+|%d+|%d|(%d+)|(%d+)|(%d)|(.*)$')
if not deadline then return 'slow' end
if f[2] then return f[3] == ARGV[4] and 'won' or 'lost' end
-- Due, deferred, in a batch, a later round, or more messages than read.
if now >= tonumber(deadline) or f[10] or f[11] or f[12] or tonumber(nd) > 3 then return 'slow' end
if ARGV[6] ~= '' and (f[8] or '0') ~= ARGV[6] then return 'changed' end
if ARGV[7] ~= '' and f[16] ~= ARGV[8] then return 'changed' end
if KEYS[11] and call('EXISTS', KEYS[11]) == 1 then return 'blocked' end
local jobs, names = {}, {}
local function job(due, name)
  jobs[#jobs + 1] = ms(due) jobs[#jobs + 1] = name
  names[#names + 1] = name
end
for d = 0, nd - 1 do
  if f[13 + d] then job(now + 100, 'edit:' .. id .. ':' .. d) end
end
for h = 0, hooks - 1 do job(now, 'hook:' .. id .. ':' .. h) end
if names[1] then
  for _, taken in ipairs(call('HMGET', KEYS[4], unpack(names))) do
    if taken then return 'slow' end -- a worker has it
  end
  call('ZADD', KEYS[3], unpack(jobs))
end

local state, res = ARGV[2], ARGV[3]
local r = {id = id, ag = agent, se = f[4] or '', x = f[5]}
local n, link = audit(id, 'decision', agent, r.se, state, res)
event(r, 'interaction_response', state, '')
local waited = false
for ch in string.gmatch(f[6] or '', '[^,]+') do
  if ch == ARGV[5] then
    waited = true
  else
    call('PUBLISH', ch, id)
    local s = call('ZSCORE', KEYS[6], ch)
    waited = waited or (s and tonumber(s) > now)
  end
end
local set = {'st', state, 'res', res, 'at', ms(now), 'n', ARGV[4], 'rev', ms((f[7] or 0) + 1), 'an', n, 'al', link}
if not waited and (state == 'answered' or state == 'approved' or state == 'denied') then
  set[#set + 1] = 'nw' set[#set + 1] = '1'
end
call('HSET', key, unpack(set))
call('ZREM', KEYS[2], id)
if f[9] then -- the next step has nothing to do
  local step = 'step:' .. id .. ':' .. f[9]
  call('ZREM', KEYS[3], step)
  call('HDEL', KEYS[4], step)
end
if lim == '1' and call('HINCRBY', KEYS[10], agent, -1) <= 0 then call('HDEL', KEYS[10], agent) end
return 'won'
