-- Counts one person's vote on an approval with a quorum. The vote that
-- completes the quorum resolves the approval.
-- KEYS 1-8 as in base.lua
-- ARGV 1 ID
--      2 person
--      3 approved|denied
--      4 vote; its assurance is the proof of the person
--      5 index of its scope (1 once, 2 session, 3 always) and, after ';', the
--        indexes of the slots that it counts for (',' after each)
--      6 required approvals
--      7 required approvals for each slot (',' after each)
--      8 a single denial resolves it (0|1)
--      9 nonce
--      10 channel of this daemon
--      11 number of amendments that it was checked against ('' for any)
--      12.. responses if this vote decides: with scope 1, 2 and 3, up to its own
--      last: revision that the record must have ('' for any)
-- returns 'missing' | 'late' | 'won' (a repeat of the deciding vote) |
--      'repeat' | 'counted' | 'decided' | 'changed' (amended since then) |
--      'raced' (it has another revision)
own = ARGV[10]
local r = read(KEYS[1], ARGV[1])
if not r then return 'missing' end
if r.st ~= 'pending' then
  if r.n == ARGV[9] then return 'won' end
  return 'late'
end
if at_deadline(r) ~= 'pending' then return 'late' end
if ARGV[11] ~= '' and (call('HGET', KEYS[1], 'av') or '0') ~= ARGV[11] then return 'changed' end
if ARGV[#ARGV] ~= '' and ms(r.rev) ~= ARGV[#ARGV] then return 'raced' end
-- A stored vote has four parts, separated by \31 and followed by \30: person,
-- state, scope index with slot indexes, and JSON. An approval has the narrowest
-- scope of its votes.
local votes, yes, no, covered, reach = {}, 0, 0, {}, 3
local function count(state, covers)
  if state == 'denied' then no = no + 1 return end
  yes = yes + 1
  local far, indexes = string.match(covers, '^(%d);(.*)$')
  reach = math.min(reach, tonumber(far))
  for n in string.gmatch(indexes, '(%d+),') do
    n = tonumber(n)
    covered[n] = (covered[n] or 0) + 1
  end
end
-- An account counts only once, whichever person it belonged to at each vote.
local function account(vote)
  local a = cjson.decode(vote).actor or {}
  return (a.platform or '') .. '/' .. (a.user or '')
end
local function assured(vote) return cjson.decode(vote).assurance ~= nil end
local mine = account(ARGV[4])
for person, state, covers, vote in string.gmatch(call('HGET', KEYS[1], 'vs') or '', '([^\30\31]*)\31([^\30\31]*)\31([^\30\31]*)\31([^\30]*)\30') do
  if person == ARGV[2] or account(vote) == mine then
    -- A different vote replaces the first, and so does an approval with a proof,
    -- and one that counts for other slots.
    local same = string.match(covers, ';.*') == string.match(ARGV[5], ';.*')
    if state == ARGV[3] and same and (assured(vote) or not assured(ARGV[4])) then return 'repeat' end
  else
    count(state, covers)
    votes[#votes + 1] = table.concat({person, state, covers, vote}, '\31') .. '\30'
  end
end
count(ARGV[3], ARGV[5])
votes[#votes + 1] = table.concat({ARGV[2], ARGV[3], ARGV[5], ARGV[4]}, '\31') .. '\30'
call('HSET', KEYS[1], 'vs', table.concat(votes))
journal(r, 'voted', 'pending', ARGV[4], 'vote')
local slots, n = true, 0
for want in string.gmatch(ARGV[7], '(%d+),') do
  slots = slots and (covered[n] or 0) >= tonumber(want)
  n = n + 1
end
local needed = tonumber(ARGV[6])
if ARGV[3] == 'denied' and (ARGV[8] == '1' or no >= needed) or ARGV[3] == 'approved' and yes >= needed and slots then
  finish(r, ARGV[3], ARGV[3] == 'approved' and ARGV[11 + reach] or ARGV[12], now, ARGV[9])
  return 'decided'
end
bump(r)
edit_all(r, 0)
return 'counted'
