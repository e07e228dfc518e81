-- Adds a daemon's channel to a pending interaction, or removes it.
-- KEYS 1 record
--      2 nodes with waiters
-- ARGV 1 channel
--      2 how long the daemon counts as alive, in ms; 0 removes the channel, and ''
--        leaves the time unchanged
-- returns {state or '', now in ms, queued (0|1)}
local f = call('HMGET', KEYS[1], 'st', 'w', 'q', 'c')
if not f[4] then return {'', ms(now), '0'} end
if not f[1] then
  local w = ',' .. (f[2] or '') .. ','
  local mine = ',' .. ARGV[1] .. ','
  local at = string.find(w, mine, 1, true)
  if ARGV[2] == '0' then
    if at then
      local rest = string.sub(w, 1, at) .. string.sub(w, at + #mine)
      call('HSET', KEYS[1], 'w', string.match(rest, '^,*(.-),*$'))
    end
  else
    if not at then call('HSET', KEYS[1], 'w', f[2] and f[2] ~= '' and f[2] .. ',' .. ARGV[1] or ARGV[1]) end
    if ARGV[2] ~= '' then call('ZADD', KEYS[2], ms(now + tonumber(ARGV[2])), ARGV[1]) end
  end
end
return {f[1] or 'pending', ms(now), f[3] and '1' or '0'}
