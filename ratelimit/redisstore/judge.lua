-- What the scripts that judge checks share. A script is this part, the laws that it needs and an end.
--
-- KEYS[i]  the state of the i-th check
-- ARGV     seven for each check: its law, limit, window, cost, instant, one more, and the least life of its key; an
--          empty instant is the server's, and all keys have the same least life
--
-- Instants and waits are ticks of a microsecond. All numbers are whole and below 2^53, where doubles are exact. A law
-- takes a key and the numbers of a check and returns a decision, or nothing and an error reply. A decision is {1 if
-- allowed, what remains, reset, next, retry, what is to be added to each of these three waits}, where a wait of -1 is
-- none. In it held says that the key exists, life is how long the state matters, and write, which the check has if it
-- is to be counted, writes the state and returns an error reply or nothing.
local laws = {}

local foreign = redis.error_reply('FOREIGN value under a key of the limiter')

local function text(number)
  return string.format('%.0f', number)
end

-- The whole part of a quotient of numbers that are not negative.
local function quotient(a, b)
  return (a - math.fmod(a, b)) / b
end

local function ceil(a, b)
  local whole = quotient(a, b)
  if whole * b < a then
    whole = whole + 1
  end
  return whole
end

-- The largest multiple of the window that is not above the instant.
local function floor(instant, window)
  local rest = math.fmod(instant, window)
  if rest < 0 then
    rest = rest + window
  end
  return instant - rest
end

local least = math.ceil(tonumber(ARGV[7]) / 1000)

-- The milliseconds after which a key ends whose state matters for so many ticks: a second later, or more.
local function expiry(life)
  return text(math.max(math.ceil(life / 1000) + 1000, least, 1000))
end

-- An error reply, if the answer of a command is one.
local function failure(answer)
  if type(answer) == 'table' and answer.err then
    return answer
  end
end

local served
local function instant(given)
  if given ~= '' then
    return tonumber(given)
  end
  if not served then
    local time = redis.call('TIME')
    served = tonumber(time[1]) * 1000000 + tonumber(time[2])
  end
  return served
end

-- Judges the i-th check, at another cost if one is given.
local function judge(i, cost)
  local base = 7 * (i - 1)
  return laws[ARGV[base + 1]](KEYS[i], {
    limit = tonumber(ARGV[base + 2]),
    window = tonumber(ARGV[base + 3]),
    cost = cost or tonumber(ARGV[base + 4]),
    now = instant(ARGV[base + 5]),
    more = ARGV[base + 6],
  })
end

-- Gives a key that exists an end, if it has none.
local function heal(key, d)
  if d.held and redis.call('PTTL', key) == -1 then
    redis.call('PEXPIRE', key, expiry(d.life))
  end
end

-- Counts the check, if it is to be counted.
local function settle(key, d)
  if d.write then
    return failure(d.write())
  end
  heal(key, d)
end
