-- Keeps the messages of people for sessions, until agents have taken them and
-- the authors know.
-- KEYS 1 messages, without the ID
--      2 messages to tell their authors about, by time in ms
--      3 the last ID, as its time (t) and number (n)
--      4 IDs that wait in the session
--      5 the reader of the session: its name (r), the end of its lease in ms
--        (u), and the number of times that its turn was continued (c)
--      6 ID of the first message of a key
-- ARGV 1 put, take, finish, due or told
--      2… see the function
-- Returns the fields of a message, or false if it is no longer kept.
local function message(id)
  local key = KEYS[1] .. id
  local f = call('HMGET', key, 'd', 'f', 'at', 'told', 'note', 'c')
  return f[1] and {id, f[1], f[2], f[3] or '', f[4] or '', f[5] or '', f[6]}
end

-- Whether an ID is later than another.
local function later(a, b)
  local at, an = string.match(a, '^(%d+)-(%d+)$')
  local bt, bn = string.match(b, '^(%d+)-(%d+)$')
  at, an, bt, bn = tonumber(at), tonumber(an), tonumber(bt), tonumber(bn)
  return at > bt or at == bt and an > bn
end

local does = {}

-- ARGV 2 message, as JSON
--      3 largest number of messages that wait
--      4 time that a message waits, in ms
--      5 time after which the author is told that it waits, in ms
-- returns the message; 'full' if there are too many
function does.put()
  local first = call('GET', KEYS[6])
  local known = first and message(first)
  if known then return known end
  if call('LLEN', KEYS[4]) >= tonumber(ARGV[3]) then return 'full' end
  local last = call('HMGET', KEYS[3], 't', 'n')
  local t, n = math.max(now, tonumber(last[1] or '0')), tonumber(last[2] or '0') + 1
  call('HSET', KEYS[3], 't', ms(t), 'n', ms(n))
  local id, keep = ms(t) .. '-' .. ms(n), ms(2 * tonumber(ARGV[4]))
  local key = KEYS[1] .. id
  call('HSET', key, 'd', ARGV[2], 'f', 'waiting', 'c', ms(now))
  call('PEXPIRE', key, keep)
  call('RPUSH', KEYS[4], id)
  call('PEXPIRE', KEYS[4], keep)
  call('ZADD', KEYS[2], ms(now + tonumber(ARGV[5])), id)
  call('SET', KEYS[6], id, 'PX', keep)
  return message(id)
end

-- ARGV 2 reader; '' takes no lease
--      3 lease in ms
--      4 largest number of messages
--      5 '' unless the agent ends its turn; then '1' if a message continued
--        the turn, otherwise '0'
--      6 largest number of times in a row that a turn is continued
-- returns the messages, each with the reader before
function does.take()
  local h = call('HMGET', KEYS[5], 'r', 'u', 'c')
  local function keep(...)
    call('HSET', KEYS[5], ...)
    call('PEXPIRE', KEYS[5], 86400000)
  end
  if ARGV[5] ~= '' then
    local c = ARGV[5] == '1' and tonumber(h[3] or '0') + 1 or 0
    if c > 0 or h[3] then keep('c', ms(c)) end
    if c >= tonumber(ARGV[6]) then return {} end
  end
  if h[1] and h[1] ~= ARGV[2] and tonumber(h[2]) > now then return {} end
  local out = {}
  for _, id in ipairs(call('LRANGE', KEYS[4], 0, tonumber(ARGV[4]) - 1)) do
    local m = message(id)
    if not m then
      call('LREM', KEYS[4], 1, id)
    else
      if ARGV[2] ~= '' then
        local key = KEYS[1] .. id
        m[8] = call('HGET', key, 'r') or ''
        call('HSET', key, 'r', ARGV[2])
      end
      out[#out + 1] = m
    end
  end
  if #out > 0 and ARGV[2] ~= '' then keep('r', ARGV[2], 'u', ms(now + tonumber(ARGV[3]))) end
  return out
end

-- ARGV 2 the last of the messages to end; '' ends all
--      3 fate
-- returns the number of messages
function does.finish()
  local done = 0
  for _, id in ipairs(call('LRANGE', KEYS[4], 0, -1)) do
    if ARGV[2] ~= '' and later(id, ARGV[2]) then break end
    call('LPOP', KEYS[4])
    local key = KEYS[1] .. id
    if call('EXISTS', key) == 1 then
      call('HSET', key, 'f', ARGV[3], 'at', ms(now))
      call('ZADD', KEYS[2], ms(now), id)
      done = done + 1
    end
  end
  call('HDEL', KEYS[5], 'r', 'u')
  return done
end

-- ARGV 2 largest number of messages
--      3 lease in ms
-- returns the messages whose time has come
function does.due()
  local out = {}
  for _, id in ipairs(call('ZRANGEBYSCORE', KEYS[2], '-inf', ms(now), 'LIMIT', 0, ARGV[2])) do
    local m = message(id)
    if m then
      call('ZADD', KEYS[2], ms(now + tonumber(ARGV[3])), id)
      out[#out + 1] = m
    else
      call('ZREM', KEYS[2], id)
    end
  end
  return out
end

-- ARGV 2 ID
--      3 fate that the author knows
--      4 message that says so, as JSON
--      5 time that a message waits, in ms
--      6 time for which a message is kept whose author knows its end, in ms
function does.told()
  local m = message(ARGV[2])
  if not m then return call('ZREM', KEYS[2], ARGV[2]) end
  local key = KEYS[1] .. ARGV[2]
  call('HSET', key, 'told', ARGV[3], 'note', ARGV[4])
  if m[3] ~= ARGV[3] then -- it changed in the meantime
    call('ZADD', KEYS[2], ms(now), ARGV[2])
  elseif m[3] == 'waiting' then
    call('ZADD', KEYS[2], ms(tonumber(m[7]) + tonumber(ARGV[5])), ARGV[2])
  else
    call('ZREM', KEYS[2], ARGV[2])
    call('PEXPIRE', key, ARGV[6])
  end
  return 1
end

return does[ARGV[1]]()
