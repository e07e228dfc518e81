-- Removes the start of a log, if it still starts at the expected seal. Of a
-- journal, it removes the start of the archive, and marks the new start.
-- KEYS 1 head of the log
--      2 entries, or the archive of a journal
--      3 seals
-- ARGV 1 the seal that the log is trimmed to ('' for none)
--      2 the seal to trim it to
--      3 ID of that seal
-- returns 1 if the log was trimmed, otherwise 0
if (call('HGET', KEYS[1], 'trim') or '') ~= ARGV[1] then return 0 end
local found = call('XRANGE', KEYS[3], ARGV[3], ARGV[3])[1]
if not found then return 0 end
-- Streams are trimmed to a lowest ID, and never by deletions: a deletion of an
-- entry is evidence of tampering.
local function after(id)
  local t, n = string.match(id, '^(%d+)%-(%d+)$')
  return t .. '-' .. ms(tonumber(n) + 1)
end
call('HSET', KEYS[1], 'trim', ARGV[2], 'start', found[2][4])
call('XTRIM', KEYS[2], 'MINID', after(found[2][4]))
call('XTRIM', KEYS[3], 'MINID', after(ARGV[3]))
return 1
