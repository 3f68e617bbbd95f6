
-- Places that are held. The state is a sorted set with a member "=lease" for each place, at the instant at which it
-- lapses, and behind them all one that names the instant of the newest hold. Places that lapsed stay until the next one
-- is taken or renewed.
local function places(key, window, now)
  local last = redis.pcall('ZRANGE', key, -2, -1, 'WITHSCORES')
  if failure(last) then
    return nil, last
  end
  local state = { held = #last > 0, known = false, at = now, live = 0, life = 0 }
  if state.held then
    state.mark = last[3]
    local newest = string.match(last[3] or '', '^newest (%-?%d+)$')
    if not newest or string.sub(last[1], 1, 1) ~= '=' then
      return nil, foreign
    end
    newest = tonumber(newest)
    state.life = tonumber(last[2]) - now
    -- An older instant is judged at that of the newest hold, unless it is older by more than a window.
    if now >= newest - window then
      state.known, state.at = true, math.max(now, newest)
      state.live = redis.call('ZCARD', key) - 1 - redis.call('ZCOUNT', key, '-inf', text(state.at))
    end
  end
  return state
end

-- Whether the lease holds a place.
local function holds(key, state, lease)
  local ends = state.known and redis.call('ZSCORE', key, '=' .. lease)
  return ends and tonumber(ends) > state.at
end

-- Makes the lease live for a window, and drops those that lapsed. Adding comes first: only the first write of a script
-- is refused by a server that is full.
local function hold(key, state, lease, window, now)
  if state.held and not state.known then
    redis.call('DEL', key)
  end
  local mark = 'newest ' .. text(state.at)
  local answer = redis.pcall('ZADD', key, text(state.at + window), '=' .. lease, '+inf', mark)
  if failure(answer) then
    return answer
  end
  if state.known then
    redis.call('ZREMRANGEBYSCORE', key, '-inf', text(state.at))
    if state.mark ~= mark then
      redis.call('ZREM', key, state.mark)
    end
  end
  local last = redis.call('ZRANGE', key, -2, -2, 'WITHSCORES')
  redis.call('PEXPIRE', key, expiry(tonumber(last[2]) - now))
end

-- The last argument of the check is its lease. Who is denied is told to come back in a second.
function laws.cc(key, check)
  local state, failed = places(key, check.window, check.now)
  if failed then
    return nil, failed
  end
  local lease, live = check.more, state.live
  local holding = holds(key, state, lease)
  local allowed = check.cost == 0 or holding or live < check.limit
  local d = { allowed and 1 or 0, 0, -1, -1, allowed and -1 or 1000000, 0 }
  d.held, d.life = state.held, state.life
  if allowed and check.cost > 0 then
    if not holding then
      live = live + 1
    end
    d.write = function()
      return hold(key, state, lease, check.window, check.now)
    end
  end
  d[2] = math.max(0, check.limit - live)
  return d
end
