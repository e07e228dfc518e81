-- Removes the start of the archive of a journal, if the journal still starts at
-- the expected seal, and marks the new start.
-- KEYS 1 head of the journal
--      2 archive
--      3 seals
-- ARGV 1 the seal that the journal is trimmed to ('' for none)
--      2 the seal to trim it to
--      3 ID of that seal, which is that of its last entry
-- returns 1 if the journal was trimmed, otherwise 0
if (call('HGET', KEYS[1], 'trim') or '') ~= ARGV[1] then return 0 end
if not call('XRANGE', KEYS[3], ARGV[3], ARGV[3])[1] then return 0 end
-- Streams are trimmed to a lowest ID, and never by deletions: a deletion of an
-- entry is evidence of tampering.
local t, n = string.match(ARGV[3], '^(%d+)%-(%d+)$')
local after = t .. '-' .. ms(tonumber(n) + 1)
call('HSET', KEYS[1], 'trim', ARGV[2], 'start', ARGV[3])
call('XTRIM', KEYS[2], 'MINID', after)
call('XTRIM', KEYS[3], 'MINID', after)
return 1
