-- Resolves a pending interaction; the first caller wins.
-- KEYS 1-8 as in base.lua
-- ARGV 1 ID
--      2 state
--      3 response
--      4 nonce
--      5 channel of this daemon
--      6 number of amendments that it was checked against ('' for any)
-- returns 'missing' | 'won' | 'lost' | 'changed' (amended since then)
own = ARGV[5]
local r = read(KEYS[1], ARGV[1])
if not r then return 'missing' end
if r.st ~= 'pending' then
  if r.n == ARGV[4] then return 'won' end
  return 'lost'
end
if at_deadline(r) ~= 'pending' then return 'lost' end
if ARGV[6] ~= '' and (call('HGET', KEYS[1], 'av') or '0') ~= ARGV[6] then return 'changed' end
finish(r, ARGV[2], ARGV[3], now, ARGV[4])
return 'won'
