-- Appends to the audit log as versions before the journal do. This file must not
-- change.
-- KEYS 1 audit log
--      2 its head
-- ARGV 1 ID
--      2 type
--      3 agent
--      4 session
--      5 state
--      6 data
local T = redis.call('TIME')
local now = T[1] * 1000 + math.floor(T[2] / 1000)
local function ms(n) return string.format('%d', n) end
local id, kind, agent, session, state, data = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6]
local h = redis.call('HMGET', KEYS[2], 'n', 'l')
local n, at = ms(tonumber(h[1] or '0') + 1), ms(now)
local link = redis.sha1hex(table.concat({h[2] or '', #n .. ':' .. n, #at .. ':' .. at, #kind .. ':' .. kind, #id .. ':' .. id,
  #agent .. ':' .. agent, #session .. ':' .. session, #state .. ':' .. state, #data .. ':' .. data}, '\n'))
redis.call('XADD', KEYS[1], '*', 'n', n, 'ts', at, 't', kind, 'i', id, 'a', agent, 's', session, 'st', state, 'd', data, 'l', link)
redis.call('HSET', KEYS[2], 'n', n, 'l', link)
return n
