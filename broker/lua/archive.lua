-- Removes the oldest entries of a journal. Those of the audit log go to its
-- archive, under the same IDs, unless the audit log is trimmed up to them.
-- KEYS 1 head of the journal
--      2 journal
--      3 archive
-- ARGV 1 the highest ID to remove
--      2 the highest number of entries to remove
-- returns the number of entries that were removed
local found = call('XRANGE', KEYS[2], '-', ARGV[1], 'COUNT', ARGV[2])
if #found == 0 then return 0 end
local function parts(id)
  local t, n = string.match(id, '^(%d+)%-(%d+)$')
  return tonumber(t), tonumber(n)
end
local start, first = parts(call('HGET', KEYS[1], 'start') or '0-0')
-- The fields of an entry; see journal in base.lua. No others are copied: someone
-- may have added more than XADD takes here.
local names = {'t', 'i', 'a', 's', 'st', 'x', 'k', 'd'}
for _, entry in ipairs(found) do
  local id, fields = entry[1], {}
  for f = 1, #entry[2], 2 do fields[entry[2][f]] = entry[2][f + 1] end
  local kind, t, n = fields.k or '', parts(id)
  if kind ~= '' and kind ~= 'event' and (t > start or t == start and n > first) then
    local copy = {}
    for _, name in ipairs(names) do
      if fields[name] then copy[#copy + 1] = name copy[#copy + 1] = fields[name] end
    end
    call('XADD', KEYS[3], id, unpack(copy))
  end
end
call('XTRIM', KEYS[2], 'MAXLEN', call('XLEN', KEYS[2]) - #found)
return #found
