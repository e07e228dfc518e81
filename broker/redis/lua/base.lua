-- Every script begins with this file. Redis does not undo what a script wrote
-- before it failed, so what can fail comes before the first write.
-- A call of Redis costs more than what it does, so scripts make few.
local call, format = redis.call, string.format -- looked up once, because lookups are expensive
local T = call('TIME')
local now = T[1] * 1000 + math.floor(T[2] / 1000)
local function ms(n) return format('%d', n) end
