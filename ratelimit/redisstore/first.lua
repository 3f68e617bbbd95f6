
-- A fixed window that the first counted check opens: judge first, count then. The state is "window start count"; it is
-- absent while no window is open.
function laws.ff(key, check)
  local held = redis.pcall('GET', key)
  if failure(held) then
    return nil, held
  end
  local window, now = check.window, check.now
  local start, count = now, 0
  if held then
    local w, s, c = string.match(held, '^(%d+) (%-?%d+) (%d+)$')
    if not w then
      return nil, foreign
    end
    w, s, c = tonumber(w), tonumber(s), tonumber(c)
    -- An instant before the window is judged at its start, unless it is older by more than a window.
    if w == window and now < s + window and now >= s - window then
      start, count = s, c
    end
  end

  local allowed = check.cost == 0 or count <= check.limit - check.cost
  if allowed then
    count = count + check.cost
  end
  local rest = count > 0 and start + window - now or -1
  local d = { allowed and 1 or 0, math.max(0, check.limit - count), rest, rest, allowed and -1 or rest, 0 }
  d.held, d.life = held, rest
  if allowed and check.cost > 0 then
    d.write = function()
      return redis.pcall('SET', key, text(window) .. ' ' .. text(start) .. ' ' .. text(count), 'PX', expiry(rest))
    end
  end
  return d
end
