-- A fixed window that the first counted check opens: judge first, count then.
--
-- KEYS[1]  the state: "window start count", instants in microseconds; absent while no window is open
-- ARGV     limit, window, cost, now; an empty now is the server's clock
-- returns  {1 if allowed, the count after the check, the rest of the window or 0}
local limit, window, cost, now = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
if not now then
  local time = redis.call('TIME')
  now = tonumber(time[1]) * 1000000 + tonumber(time[2])
end

local start, count = now, 0
local held = redis.call('GET', KEYS[1])
if held then
  local w, s, c = string.match(held, '^(%d+) (%-?%d+) (%d+)$')
  if not w then
    return redis.error_reply('FOREIGN value under a key of the limiter')
  end
  w, s, c = tonumber(w), tonumber(s), tonumber(c)
  -- An instant before the window is judged at its start, unless it is older by more than a window.
  if w == window and now < s + window and now >= s - window then
    start, count = s, c
  end
end

local allowed = cost == 0 or count <= limit - cost
if allowed and cost > 0 then
  count = count + cost
  local ttl = math.ceil((start + window - now) / 1000) + 1000
  redis.call('SET', KEYS[1], string.format('%.0f %.0f %.0f', window, start, count), 'PX', string.format('%.0f', ttl))
elseif held and redis.call('PTTL', KEYS[1]) == -1 then
  redis.call('PEXPIRE', KEYS[1], string.format('%.0f', math.ceil(window / 1000) + 1000))
end

local rest = 0
if count > 0 then
  rest = start + window - now
end
return {allowed and 1 or 0, count, rest}
