-- Records that a daemon with waiters is alive, and removes those that are not.
-- KEYS 1 nodes with waiters
-- ARGV 1 channel
--      2 how long it counts as alive, in ms
-- returns 1
call('ZADD', KEYS[1], ms(now + tonumber(ARGV[2])), ARGV[1])
call('ZREMRANGEBYSCORE', KEYS[1], '-inf', ms(now))
return 1
