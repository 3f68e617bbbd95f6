-- Adds to the counts of a circuit and reads it.
--
-- KEYS[1]  the circuit: a hash of its record and its counts
-- KEYS[2]  the replicas that feed it: a sorted set by the server's instant
-- ARGV     instant and window in milliseconds, offered, admitted, the largest count, the name of the replica, after how
--          many milliseconds of silence a replica is gone, life of the keys in milliseconds
-- returns  {state, since, step, recovery, force, its end, epoch, offered and admitted in the window, offered since the
--          state began, replicas}
local now, window, most = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[5])

local function text(number)
  return string.format('%.0f', number)
end

local function failed(answer)
  return type(answer) == 'table' and answer.err
end

local known = redis.pcall('HMGET', KEYS[1], 'state', 'since', 'step', 'recovery', 'force', 'ends', 'epoch',
  'window', 'start', 'offered', 'admitted', 'before_offered', 'before_admitted', 'since_state')
if failed(known) then
  return known
end
local function number(i)
  return tonumber(known[i] or 0)
end
local start = number(9)
local current, before = { number(10), number(11) }, { number(12), number(13) }

local begins = now - math.fmod(math.fmod(now, window) + window, window)
if number(8) ~= window or begins > start + window or begins < start - window then
  start, current, before = begins, { 0, 0 }, { 0, 0 }
elseif begins > start then
  start, before, current = begins, current, { 0, 0 }
end

local function add(count, n)
  return math.min(most, count + math.min(most, tonumber(n)))
end
current = { add(current[1], ARGV[3]), add(current[2], ARGV[4]) }
local since = add(number(14), ARGV[3])

-- What a window that ends now still covers of the one before. The product alone would not be exact.
local rest = window - math.max(0, now - start)
local function covered(i)
  local part = math.fmod(before[i], window)
  local whole = (before[i] - part) / window
  return current[i] + whole * rest + math.floor(part * rest / window)
end

local answer = redis.pcall('HSET', KEYS[1], 'window', text(window), 'start', text(start), 'offered', text(current[1]),
  'admitted', text(current[2]), 'before_offered', text(before[1]), 'before_admitted', text(before[2]), 'since_state', text(since))
if failed(answer) then
  return answer
end
local time = redis.call('TIME')
local served = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
redis.call('ZADD', KEYS[2], text(served), ARGV[6])
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', text(served - tonumber(ARGV[7])))
redis.call('PEXPIRE', KEYS[1], ARGV[8])
redis.call('PEXPIRE', KEYS[2], ARGV[8])
return { known[1] or '', known[2] or '', known[3] or '0', known[4] or '0', known[5] or '', known[6] or '', known[7] or '0',
  covered(1), covered(2), since, redis.call('ZCARD', KEYS[2]) }
