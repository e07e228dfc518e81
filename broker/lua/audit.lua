-- Appends an entry that is not a transition to the audit log.
-- KEYS 8 audit log
--      9 its head
--      1-7 are not used
-- ARGV 1 ID ('' for none)
--      2 type
--      3 agent
--      4 session
--      5 state ('' for none)
--      6 data
-- returns the number of the entry
local n = audit(ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6])
return n
