-- Runs each command of nod on keys of its own, and leaves nothing behind. It
-- fails with the first answer that refuses one, and the name of the command.
-- KEYS 1 hash
--      2 sorted set
--      3 stream
--      4 list
--      5 string
-- ARGV 1 channel
-- returns 1
local hash, set, stream, list, text = unpack(KEYS)
local refused
local function try(name, ...)
  local reply = attempt(name, ...)
  if not refused and type(reply) == 'table' and reply.err then refused = reply.err .. ' (' .. name .. ')' end
  return reply
end
try('DEL', hash, set, stream, list, text)
try('SET', text, '1')
try('SETNX', text, '1')
try('INCR', text)
try('PEXPIRE', text, 1000)
try('EXPIRE', text, 1)
try('EXISTS', text)
try('GET', text)

try('HSET', hash, 'a', '1')
try('HSETNX', hash, 'a', '1')
try('HINCRBY', hash, 'a', 1)
for _, read in ipairs({'HGETALL', 'HVALS', 'HLEN'}) do try(read, hash) end
for _, read in ipairs({'HGET', 'HMGET', 'HEXISTS', 'HDEL'}) do try(read, hash, 'a') end

try('ZADD', set, 1, 'a', 2, 'b')
for _, read in ipairs({'ZRANGE', 'ZREVRANGE'}) do try(read, set, 0, 0) end
for _, read in ipairs({'ZRANGEBYSCORE', 'ZCOUNT'}) do try(read, set, '-inf', '+inf') end
for _, read in ipairs({'ZCARD', 'ZRANDMEMBER'}) do try(read, set) end
for _, read in ipairs({'ZSCORE', 'ZRANK', 'ZREM'}) do try(read, set, 'a') end
try('ZREVRANGEBYSCORE', set, '+inf', '-inf')
try('ZREMRANGEBYSCORE', set, '-inf', 0)
try('ZREMRANGEBYRANK', set, 0, 0)

try('XADD', stream, '1-1', 'a', '1')
try('XRANGE', stream, '-', '+', 'COUNT', 1)
try('XREVRANGE', stream, '+', '-', 'COUNT', 1)
try('XLEN', stream)
try('XINFO', 'STREAM', stream)
try('XTRIM', stream, 'MINID', '1-1')
try('XDEL', stream, '1-1')

try('RPUSH', list, 'a', 'b')
try('LPUSH', list, 'c')
try('LRANGE', list, 0, -1)
try('LLEN', list)
try('LINDEX', list, 0)
try('LREM', list, 1, 'c')
try('LTRIM', list, 0, 0)
try('LPOP', list)

try('DEL', hash, set, stream, list, text)
try('PUBLISH', ARGV[1], '')
return refused and redis.error_reply(refused) or 1
