-- Registers a daemon's channel with a pending interaction.
-- KEYS 1 record
-- ARGV 1 channel
-- returns {state or '', now in ms}
local f = redis.call('HMGET', KEYS[1], 'st', 'w')
if not f[1] then return {'', ms(now)} end
if f[1] == 'pending' then
  local w = f[2] or ''
  if not string.find(',' .. w .. ',', ',' .. ARGV[1] .. ',', 1, true) then
    redis.call('HSET', KEYS[1], 'w', w == '' and ARGV[1] or w .. ',' .. ARGV[1])
  end
end
return {f[1], ms(now)}
