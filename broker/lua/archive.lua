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
for _, entry in ipairs(found) do
  local id, fields = entry[1], entry[2]
  local kind = ''
  for f = 1, #fields, 2 do
    if fields[f] == 'k' then kind = fields[f + 1] end
  end
  local t, n = parts(id)
  if kind ~= '' and (t > start or t == start and n > first) then call('XADD', KEYS[3], id, unpack(fields)) end
end
local t, n = parts(found[#found][1])
call('XTRIM', KEYS[2], 'MINID', ms(t) .. '-' .. ms(n + 1))
return #found
