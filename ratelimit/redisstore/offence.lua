-- How a key stands with a rule of bans, and an offence that is counted if it is one.
--
-- KEYS[1]  the ban, in force or ended: a hash of from, until, repeat, network, actor and reason
-- KEYS[2]  the offences: a sorted set with a member "tick-n" for each, at its tick
-- ARGV     instant, number of offences that bans, time for which one counts, length of the first ban, growth of repeats,
--          1 if an offence begins a ban anew, time for which a ban is remembered and beyond which none grows, 1 for an
--          offence and 0 to look
-- returns  {offences that count, 1 if banned, 1 if by this offence, from, until, repeat, network, actor, reason}
--
-- Instants and times are ticks of a microsecond; an empty until is never.
local now, number, span = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local first, growth, memory = tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[7])
local counts = ARGV[8] == '1'

local function text(ticks)
  return string.format('%.0f', ticks)
end

local function failed(answer)
  return type(answer) == 'table' and answer.err
end

local function expire(key, ticks)
  redis.call('PEXPIRE', key, text(math.ceil(math.max(0, ticks) / 1000) + 1000))
end

local function banned(ban, struck)
  return { 0, 1, struck, ban[1], ban[2], ban[3], ban[4], ban[5], ban[6] }
end

local ban = redis.pcall('HMGET', KEYS[1], 'from', 'until', 'repeat', 'network', 'actor', 'reason')
if failed(ban) then
  return ban
end
if ban[1] and (ban[2] == '' or now < tonumber(ban[2])) then
  local ends = ban[2] ~= '' and now + tonumber(ban[2]) - tonumber(ban[1])
  if counts and ARGV[6] == '1' and ends and ends > tonumber(ban[2]) then
    ban[1], ban[2] = text(now), text(ends)
    local answer = redis.pcall('HSET', KEYS[1], 'from', ban[1], 'until', ban[2])
    if failed(answer) then
      return answer
    end
    expire(KEYS[1], ends - now + memory)
  end
  return banned(ban, 0)
end

local live = redis.pcall('ZCOUNT', KEYS[2], text(now - span), '+inf')
if failed(live) then
  return live
end
if not counts then
  return { live, 0, 0 }
end
if live + 1 < number then
  -- A clock that went back does not make an offence older than the one before it.
  local newest = redis.call('ZRANGE', KEYS[2], -1, -1, 'WITHSCORES')
  local at = math.max(now, tonumber(newest[2] or now))
  local n = redis.call('ZCOUNT', KEYS[2], text(at), text(at))
  local answer = redis.pcall('ZADD', KEYS[2], text(at), text(at) .. '-' .. text(n))
  if failed(answer) then
    return answer
  end
  redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', '(' .. text(now - span))
  expire(KEYS[2], at - now + span)
  return { live + 1, 0, 0 }
end

local repeats, length = 0, first
if ban[1] and now - tonumber(ban[2]) <= memory then
  repeats = tonumber(ban[3]) + 1
end
if growth > 1 and repeats > 0 then
  length = math.max(first, math.floor(math.min(first * growth ^ repeats, memory)))
end
ban = { text(now), text(now + length), text(repeats), '', '', '' }
local answer = redis.pcall('HSET', KEYS[1], 'from', ban[1], 'until', ban[2], 'repeat', ban[3], 'network', '', 'actor', '', 'reason', '')
if failed(answer) then
  return answer
end
redis.call('DEL', KEYS[2])
expire(KEYS[1], length + memory)
return banned(ban, 1)
