-- Applies what was agreed for their deadlines to interactions of one partition.
-- KEYS 1-10 as in lib.lua, the first not used; 11.. records
-- ARGV 1 channel of this daemon  2.. ids, in the order of the records
-- returns the ids of those that ended, or that wait on for a late answer
own = ARGV[1]
local over = {}
for n = 2, #ARGV do
  local r = read(KEYS[9 + n], ARGV[n])
  if not r or r.st ~= 'pending' then
    call('ZREM', KEYS[2], ARGV[n]) -- a deadline whose record is gone
  elseif at_deadline(r) ~= 'pending' or r.q then
    over[#over + 1] = r.id
  end
end
return over
