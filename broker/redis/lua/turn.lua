-- Gives a call of a platform its turn within one or more rate limits.
-- KEYS 5 for each limit:
--      1 state: h   held until
--               t   when all calls will be unused (steady limits)
--               q   the last number given to a call
--               p   1 if the last turn was that of a post
--               n   when it changed last
--      2 the turns of the period, by time
--      3 the posts that wait, by class and time
--      4 the edits that wait, by class and time
--      5 all that wait, by the time when each asks again
-- ARGV 1 key of the call
--      2 class
--      3 it is an edit (0|1)
--      4 ms that it waits for its turn at most
--      5 ms from which it asks again halfway
--      6 number of calls that it stands for
--      7.. for each limit: calls (0 for none), period in ms, and ms that calls
--        may be early (negative unless it is steady)
-- returns ms until its turn, rounded up. It has used its turn if it waits that
--      long
local CLASS = 2 ^ 50 -- a class, the time in ms, and nine bits of a number make one score
local LOST = 15000   -- ms after which a call that did not ask again is dropped
local GAP = 200      -- ms between the calls to a channel that waited, so that they arrive in order
local KEPT = ms(24 * 3600 * 1000)
local me, class, edit, calls = ARGV[1], tonumber(ARGV[2]), ARGV[3] == '1', tonumber(ARGV[6])

local function forget(k, names)
  for n = 3, 5 do call('ZREM', KEYS[k + n], unpack(names)) end
end

-- Moves the state of a limit if the clock was set back since it changed. The calls
-- that wait ask by the earlier clock, so they lose their places.
local function follow_clock(l, back)
  if back <= 1000 then return end
  local k = l.k
  l.held, l.tat = math.max(l.held - back, 0), math.max(l.tat - back, 0)
  call('HSET', KEYS[k + 1], 'h', ms(l.held), 't', ms(l.tat), 'n', ms(now))
  call('DEL', KEYS[k + 2], KEYS[k + 3], KEYS[k + 4], KEYS[k + 5])
end

-- Drops the calls of a limit that did not ask again.
local function drop_lost(k)
  local names = call('ZRANGEBYSCORE', KEYS[k + 5], '-inf', ms(now - LOST), 'LIMIT', 0, 1000)
  if #names > 0 then forget(k, names) end
end

-- Sets the number of calls before the last one of this turn in a limit. The call
-- has the same score in all of them, and posts and edits alternate in the same
-- order in all, so that no two calls wait for each other. For example, the last turn
-- was that of a post, and the posts a and b and the edit c wait. Their order is c, a,
-- b, so 0 calls are ahead of c, 1 of a, and 2 of b.
local function find_place(l, score, posted)
  local k = l.k
  if call('ZCARD', KEYS[k + 5]) == 0 then l.ahead = calls - 1 return end
  local ahead = call('ZCOUNT', KEYS[edit and k + 4 or k + 3], '-inf', '(' .. (score or ms((class + 1) * CLASS)))
  local others = call('ZCARD', KEYS[edit and k + 3 or k + 4])
  local first = edit == (posted == '1')
  l.queue = ahead + math.min(others, first and ahead or ahead + 1)
  l.ahead = calls - 1 + l.queue
end

-- Returns when a limit allows the call. With one call a second, and the last turn at
-- 10.0 s, the turns of c, a and b in the example are at 11.0, 12.0 and 13.0 s.
local function earliest(l)
  local at = math.max(now, l.held)
  if l.calls == 0 then return at end
  if l.early >= 0 then
    return math.max(at, math.max(at, l.tat) + l.ahead * l.period / l.calls - l.early)
  end
  local key = KEYS[l.k + 2]
  call('ZREMRANGEBYSCORE', key, '-inf', ms(now - l.period))
  local free = l.calls - call('ZCARD', key)
  local function allowed(n) -- n calls after the next one
    if n < free then return at end
    return math.max(at, tonumber(call('ZRANGE', key, n - free, n - free, 'WITHSCORES')[2]) + l.period)
  end
  local n, later = l.ahead % l.calls, math.floor(l.ahead / l.calls) * l.period
  local turn = allowed(n) + later
  if not l.queue or l.k > 0 then return turn end -- only those of a channel have to arrive in order
  local gap = math.min(GAP, l.period / l.calls / 2) -- half of the pace of the limit, so it wastes no turn
  -- A call that waits has its time after those ahead, which may not ask now.
  if free > 0 then return math.max(turn, l.waits and tonumber(call('ZSCORE', KEYS[l.k + 5], me)) or turn) end
  local following = tonumber(call('ZRANGE', key, -1, -1, 'WITHSCORES')[2] or '0') + gap
  return math.max(turn, math.max(allowed(0) + later, following) + l.queue % l.calls * gap)
end

local limits, turn, score = {}, now, nil
for n = 1, #KEYS / 5 do
  local k = 5 * (n - 1)
  local s = call('HMGET', KEYS[k + 1], 'h', 't', 'p', 'n')
  local l = {k = k, held = tonumber(s[1] or '0'), tat = tonumber(s[2] or '0'), posted = s[3] or '0',
    calls = tonumber(ARGV[4 + 3 * n]),
    period = tonumber(ARGV[5 + 3 * n]), early = tonumber(ARGV[6 + 3 * n])}
  follow_clock(l, tonumber(s[4] or '0') - now)
  if call('ZCARD', KEYS[k + 5]) > 0 then
    drop_lost(k)
    l.waits = call('ZSCORE', KEYS[edit and k + 4 or k + 3], me)
    score = score or l.waits
  end
  limits[n] = l
end
local last = limits[#limits]
for _, l in ipairs(limits) do
  find_place(l, score, last.posted)
  l.at = earliest(l)
  turn = math.max(turn, l.at)
end
turn = math.ceil(turn)

if turn - now <= tonumber(ARGV[4]) then
  for _, l in ipairs(limits) do
    local k = l.k
    if l.waits then forget(k, {me}) end
    if l.calls > 0 then
      call('HSET', KEYS[k + 1], 'p', edit and '0' or '1', 'n', ms(now), 't', ms(math.max(l.tat, turn) + calls * l.period / l.calls))
      if l.early < 0 then
        for _ = 1, calls do call('ZADD', KEYS[k + 2], ms(turn), ms(call('HINCRBY', KEYS[k + 1], 'q', 1))) end
        call('PEXPIRE', KEYS[k + 2], KEPT)
      end
      call('PEXPIRE', KEYS[k + 1], KEPT)
    end
  end
  return turn - now
end
local wait = turn - now
if wait >= tonumber(ARGV[5]) then wait = math.floor(wait / 2) end
for n, l in ipairs(limits) do
  local k = l.k
  -- It waits for its channel, and for another limit if that is the one that is exhausted.
  if n == 1 or l.at >= limits[1].at then
    if not l.waits then
      score = score or ms(class * CLASS + now * 512 + call('HINCRBY', KEYS[last.k + 1], 'q', 1) % 512)
      call('ZADD', KEYS[edit and k + 4 or k + 3], score, me)
    end
    call('ZADD', KEYS[k + 5], ms(now + wait), me)
    call('HSET', KEYS[k + 1], 'n', ms(now))
    for n = 1, 5 do call('PEXPIRE', KEYS[k + n], KEPT) end
  elseif l.waits then
    forget(k, {me})
  end
end
return turn - now
