-- Runs each command of nod on keys of its own, and leaves nothing behind. It
-- fails with the first answer that refuses one, and the name of the command.
-- KEYS 1 string, 2 hash, 3 sorted set, 4 stream, 5 list
-- returns 1
local refused
local kinds = {s = KEYS[1], h = KEYS[2], z = KEYS[3], x = KEYS[4], l = KEYS[5]}
local function clean() for _, k in ipairs(KEYS) do redis.pcall('DEL', k) end end
-- The first command takes memory: once a script has written, Redis 7.2 and Valkey refuse
-- nothing for a lack of it.
local first = redis.pcall('SET', KEYS[1], '1')
if type(first) == 'table' and first.err then refused = first.err .. ' (SET)' end
clean()
for line in string.gmatch(ARGV[1], '[^\n]+') do
  local parts = {}
  for word in string.gmatch(line, '%S+') do parts[#parts + 1] = kinds[string.match(word, '^@(%a)$')] or word end
  local reply = redis.pcall(unpack(parts))
  if not refused and type(reply) == 'table' and reply.err then refused = reply.err .. ' (' .. parts[1] .. ')' end
end
clean()
return refused and redis.error_reply(refused) or 1
