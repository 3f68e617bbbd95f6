
-- A sliding window of two counters, in whole milliseconds. The state is "window start current previous".
function laws.sw(key, check)
  local held = redis.pcall('GET', key)
  if failure(held) then
    return nil, held
  end
  local limit, cost, window, now = check.limit, check.cost, check.window, check.now
  local at = floor(now, 1000)
  local start, current, previous = floor(at, window), 0, 0
  if held then
    local w, s, c, p = string.match(held, '^(%d+) (%-?%d+) (%d+) (%d+)$')
    if not w then
      return nil, foreign
    end
    s = tonumber(s)
    -- An older instant inside the newest window is used as given; one before it is judged at its start, unless it is
    -- older by more than a window.
    if tonumber(w) == window and at >= s - window then
      at = math.max(at, s)
      if at < s + window then
        start, current, previous = s, tonumber(c), tonumber(p)
      elseif at < s + 2 * window then
        start, previous = s + window, tonumber(c)
      end
    end
  end

  local whole = window / 1000
  local rest = whole - (at - start) / 1000
  -- The milliseconds until a cost fits that does not fit now.
  local function wait(units)
    if current + units <= limit then
      return rest - quotient((limit - current - units) * whole, previous)
    end
    return rest + whole - quotient((limit - units) * whole, current)
  end

  local used = previous * rest + current * whole
  local allowed = cost == 0 or used <= (limit - cost) * whole
  local retry = -1
  if not allowed then
    retry = wait(cost) * 1000
  else
    current, used = current + cost, used + cost * whole
  end
  local remaining = quotient(math.max(0, limit * whole - used), whole)
  local reset, next = -1, -1
  if remaining < limit then
    next = wait(remaining + 1) * 1000
    reset = (current > 0 and rest + whole or rest) * 1000
  end
  local d = { allowed and 1 or 0, remaining, reset, next, retry, at - now }
  d.held, d.life = held, reset + at - now
  if allowed and cost > 0 then
    d.write = function()
      local state = text(window) .. ' ' .. text(start) .. ' ' .. text(current) .. ' ' .. text(previous)
      return redis.pcall('SET', key, state, 'PX', expiry(d.life))
    end
  end
  return d
end
