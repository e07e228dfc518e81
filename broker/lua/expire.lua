-- Resolves or defers interactions whose deadline has passed.
-- KEYS 1-8 as in base.lua, the first not used
--      9.. records
-- ARGV 1 channel of this daemon
--      2.. IDs, in the order of the records
-- returns for each ID the state if it was resolved, or deferred for a late
-- answer, otherwise ''
own, all = ARGV[1], {}
local records, out = {}, {}
for n = 2, #ARGV do -- all reads come before the first write
  local known, r = pcall(read, KEYS[7 + n], ARGV[n])
  out[n - 1] = ''
  if not known then r = nil -- written by a newer nod, which resolves it
  elseif not r or r.st ~= 'pending' then all[#all + 1] = ARGV[n] -- its record has expired
  else
    r.index = n - 1
    records[#records + 1] = r
  end
end
for _, r in ipairs(records) do
  if at_deadline(r) ~= 'pending' or r.q then out[r.index] = r.st end
end
if #all > 0 then call('ZREM', KEYS[2], unpack(all)) end
return out
