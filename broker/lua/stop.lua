-- Stops a session or resumes it.
-- KEYS 1 stopped sessions
--      2 events
-- ARGV 1 agent and session
--      2 stop, as JSON; '' resumes the session
--      3 largest number of stopped sessions
--      4 agent
--      5 session
--      6 account that stops or resumes, as JSON
-- returns the stop that now applies, 'full' if there are too many; of a
--      resumption 'resumed', or 'none' if the session was not stopped
local function told(kind)
  call('XADD', KEYS[2], '*', 't', kind, 'i', '', 'a', ARGV[4], 's', ARGV[5], 'd', ARGV[6])
end
if ARGV[2] == '' then
  if call('HDEL', KEYS[1], ARGV[1]) == 0 then return 'none' end
  told('session_resumed')
  return 'resumed'
end
local first = call('HGET', KEYS[1], ARGV[1])
if first then return first end
if call('HLEN', KEYS[1]) >= tonumber(ARGV[3]) then return 'full' end
call('HSET', KEYS[1], ARGV[1], ARGV[2])
told('session_stopped')
return ARGV[2]
