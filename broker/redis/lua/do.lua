-- Applies a change, all of it or nothing. Conditions come before what is written.
-- KEYS 1 journal
--      2 jobs by the time from which they can be claimed; see job.lua
--      3 states of jobs; see job.lua
--      4.. one for each operation that takes a key, in their order
-- ARGV 1 the store's clock is at or after this, in ms ('' for any)
--      2 and before this ('' for any)
--      3.. operations with their arguments:
--           if    version              key is a document ('' for none, '-' for a
--                                      text that does not begin with a version)
--           below number               key is an index with fewer members
--           entry number, fields...    journal
--           put   value, ms to live ('' forever), number of the entry whose ID it gets ('' for none)  key is a document
--           drop                       key is a document
--           set   ms ('' for now, and after all members), member, ms to live ('' unchanged)  key is an index, whose older members leave it
--           unset member               key is an index
--           gone  job                  key is its queue, or that of jobs
--           job   job, ms, exact (0|1) key is its queue, or that of jobs
-- returns {now in ms, 'ok', IDs of entries...}, {now, 'time'}, {now, 'full', n of
--      the condition}, or {now, 'stale', documents of all conditions...}
local at, key, out, same, versions = 3, 3, {ms(now), 'ok'}, true, {}
if ARGV[1] ~= '' and now < tonumber(ARGV[1]) or ARGV[2] ~= '' and now >= tonumber(ARGV[2]) then return {ms(now), 'time'} end
local function arg()
  at = at + 1
  return ARGV[at - 1]
end
local function next_key()
  key = key + 1
  return KEYS[key]
end
local function malformed(v) return v ~= '' and (#v < 16 or string.find(v, '%D') or not string.find(v, '[1-9]')) end
while ARGV[at] == 'if' do
  at = at + 1
  local k, want = next_key(), arg()
  versions[#versions + 1] = k
  local have = redis.pcall('GETRANGE', k, 0, 15)
  if have.err then
    if not string.find(have.err, '^WRONGTYPE') then return have end
    have = '' -- MGET has nothing for such a key either, and SET replaces it
  end
  if have ~= want and (want ~= '-' or not malformed(have)) then same = false end
end
if not same then
  local docs = call('MGET', unpack(versions))
  for n = 1, #versions do out[n + 2] = docs[n] or '' end
  out[2] = 'stale'
  return out
end
local bounds = 0
while ARGV[at] == 'below' do
  at, bounds = at + 1, bounds + 1
  if call('ZCARD', next_key()) >= tonumber(arg()) then return {ms(now), 'full', ms(bounds)} end
end

local AHEAD = 3600 * 1000 -- the clock before a failover was not further ahead than this
local ops = {}
function ops.entry()
  local n = tonumber(arg())
  out[#out + 1] = call('XADD', KEYS[1], '*', unpack(ARGV, at, at + n - 1))
  at = at + n
end
function ops.put()
  local value, ttl, noted = arg(), arg(), arg()
  if noted ~= '' then value = value .. '\30' .. out[2 + tonumber(noted)] end
  if ttl == '' then call('SET', next_key(), value) else call('SET', next_key(), value, 'PX', ttl) end
end
function ops.drop() call('DEL', next_key()) end
function ops.set()
  local k, score, member, ttl = next_key(), arg(), arg(), arg()
  if score == '' then
    local last = call('ZRANGE', k, ms(now + AHEAD), ms(now), 'BYSCORE', 'REV', 'LIMIT', 0, 1, 'WITHSCORES')[2]
    score = ms(last and last + 1 or now)
  end
  call('ZADD', k, score, member)
  if ttl ~= '' then
    call('PEXPIRE', k, ttl)
    call('ZREMRANGEBYSCORE', k, 0, ms(now - ttl))
  end
end
function ops.unset() call('ZREM', next_key(), arg()) end
function ops.gone()
  local name = arg()
  call('ZREM', KEYS[2], name)
  call('HDEL', KEYS[3], name)
  leave(next_key(), name)
end
function ops.job()
  local k, name, due, exact = next_key(), arg(), arg(), arg()
  request(k, name, due, exact == '1')
end
while ARGV[at] do ops[arg()]() end
return out
