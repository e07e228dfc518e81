-- Takes, extends or releases a lease.
-- KEYS 1 lease
-- ARGV 1 holder
--      2 TTL in ms; 0 releases it
-- returns 1 if the holder has or had it, otherwise 0
local cur = call('GET', KEYS[1])
if cur and cur ~= ARGV[1] then return 0 end
if ARGV[2] == '0' then
  call('DEL', KEYS[1])
  return 1
end
call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1
