-- Resolves a pending interaction; the first caller wins.
-- KEYS 1-10 as in base.lua
--      11 a note that prevents the settlement (absent for no check)
-- ARGV 1 ID
--      2 state
--      3 response
--      4 nonce
--      5 channel of this daemon
--      6 number of amendments that it was checked against ('' for any)
--      7 index of the destination whose card was clicked ('' for no check)
--      8 digest of the content that it was remembered to show
-- returns 'missing' | 'won' | 'lost' | 'changed' (amended since then, or the card
--      shows something else) | 'blocked' (the note is stored)
own = ARGV[5]
local r = read(KEYS[1], ARGV[1])
if not r then return 'missing' end
if r.st ~= 'pending' then
  if r.n == ARGV[4] then return 'won' end
  return 'lost'
end
if at_deadline(r) ~= 'pending' then return 'lost' end
if ARGV[6] ~= '' and (call('HGET', KEYS[1], 'av') or '0') ~= ARGV[6] then return 'changed' end
if ARGV[7] ~= '' and call('HGET', KEYS[1], 's' .. ARGV[7]) ~= ARGV[8] then return 'changed' end
if KEYS[11] and call('EXISTS', KEYS[11]) == 1 then return 'blocked' end
finish(r, ARGV[2], ARGV[3], now, ARGV[4])
return 'won'
