-- Resolves the interactions of one partition whose deadline has passed, where
-- only the usual follows: the entry of the journal, edits of messages, hooks,
-- and waking callers. The rest is left to expire.lua. Only base.lua precedes
-- this file.
-- KEYS 1-10 as in base.lua, the first not used
--      11.. records
-- ARGV 1 channel of this daemon
--      2.. IDs, in the order of the records
-- returns for each ID the state if it was resolved, 'slow' if it needs
-- expire.lua, otherwise ''
own, all = ARGV[1], {}
local most, nonce = 3, 'timeout' -- most messages, and hooks
local ids, out, plain, jobs, due = ARGV, {}, {}, {}, {}

local function job(name, at)
  jobs[#jobs + 1] = name
  due[#jobs] = ms(at)
end

for n = 2, #ids do -- all reads come before the first write
  local id, key = ids[n], KEYS[9 + n]
  local c, st, se, x, w, b, rt, rev, q, en, sp, to, m0, m1, m2, req =
    unpack(call('HMGET', key, 'c', 'st', 'se', 'x', 'w', 'b', 'rt', 'rev', 'q', 'en', 'sp', 'to', 'm0', 'm1', 'm2', 'req'))
  out[n - 1] = ''
  if not c or st then
    all[#all + 1] = id -- its record has expired
  else
    local at, after, hooks, nd, lim, ag = string.match(c, '^[12]|%d+|(%d+)|(%a+)|%d+|%d+|%d|(%d+)|(%d+)|(%d)|(.*)$')
    nd, hooks = tonumber(nd), tonumber(hooks)
    if not at or after == 'pending' or b or q or en or sp or nd > most or hooks > most then
      out[n - 1] = 'slow'
    elseif now >= tonumber(at) then
      local first = #jobs + 1
      if nd > 0 and m0 then job('edit:' .. (rt or id) .. ':0', now + 100) end
      if nd > 1 and m1 then job('edit:' .. (rt or id) .. ':1', now + 100) end
      if nd > 2 and m2 then job('edit:' .. (rt or id) .. ':2', now + 100) end
      for h = 0, hooks - 1 do job('hook:' .. id .. ':' .. h, now) end
      plain[#plain + 1] = {n = n, id = id, key = key, at = at, after = after, se = se or '', x = x, w = w, rev = rev or '0',
        to = to or unanswered(req),
        lim = lim, ag = ag, first = first, last = #jobs}
    end
  end
end
local stored = #jobs > 0 and call('HMGET', KEYS[4], unpack(jobs)) or {}

-- Wakes the daemons that wait. Returns whether any of them is alive.
local alive = {}
local function wake(channels, id)
  local any = false
  for ch in string.gmatch(channels, '[^,]+') do
    if ch == own then
      any = true
    else
      call('PUBLISH', ch, id)
      if alive[ch] == nil then
        local s = call('ZSCORE', KEYS[6], ch)
        alive[ch] = s and tonumber(s) > now or false
      end
      any = any or alive[ch]
    end
  end
  return any
end

local add, ended = {}, {}
for _, r in ipairs(plain) do
  local again = false
  for k = r.first, r.last do again = again or stored[k] end
  if again then -- the job exists already
    out[r.n - 1] = 'slow'
  else
    local entry = journal(r, 'interaction_response', r.after, r.to, 'decision')
    local waited = r.w and wake(r.w, r.id)
    local rev = ms(tonumber(r.rev) + 1)
    local set = {'st', r.after, 'res', r.to, 'at', r.at, 'n', nonce, 'rev', rev, 'an', entry}
    if not waited and (r.after == 'answered' or r.after == 'approved' or r.after == 'denied') then
      set[#set + 1] = 'nw' set[#set + 1] = '1'
    end
    call('HSET', r.key, unpack(set))
    for k = r.first, r.last do
      add[#add + 1] = due[k]
      add[#add + 1] = jobs[k]
    end
    if r.lim == '1' then ended[r.ag] = (ended[r.ag] or 0) + 1 end
    all[#all + 1] = r.id
    out[r.n - 1] = r.after
  end
end
if #add > 0 then call('ZADD', KEYS[3], unpack(add)) end
for ag, n in pairs(ended) do
  if call('HINCRBY', KEYS[10], ag, -n) <= 0 then call('HDEL', KEYS[10], ag) end
end
if #all > 0 then call('ZREM', KEYS[2], unpack(all)) end
return out
