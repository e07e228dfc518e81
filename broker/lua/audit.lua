-- Notes something that is no transition in the audit log.
-- KEYS 8 audit log  9 its head; the others are not used
-- ARGV 1 id ('' for none)  2 type  3 agent  4 session  5 state ('' for none)  6 data
-- returns the entry's number
local n = audit(ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6])
return n
