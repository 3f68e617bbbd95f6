
-- The one law of token bucket, leaky bucket and GCRA: a level that rises by what is admitted and drains steadily. The
-- limit of the check is the burst, its window the number of parts of a unit, and its last argument the parts that drain
-- in a tick. The state is "parts-of-a-unit instant level".
function laws.me(key, check)
  local held = redis.pcall('GET', key)
  if failure(held) then
    return nil, held
  end
  local unit, drain, now = check.window, tonumber(check.more), check.now
  local full = check.limit * unit
  local level, at = 0, now
  if held then
    local u, since, l = string.match(held, '^(%d+) (%-?%d+) (%d+)$')
    if not u then
      return nil, foreign
    end
    u, since, l = tonumber(u), tonumber(since), tonumber(l)
    -- An older instant is judged at that of the state, unless it is older by more than a full meter takes to drain.
    if since - now <= ceil(full, drain) then
      at = math.max(now, since)
      if u == unit then
        level = math.min(l, full)
      else
        local units, parts = quotient(l, u), math.fmod(l, u)
        level = full
        if units < check.limit then
          level = math.min(full, units * unit + math.ceil(parts * unit / u))
        end
      end
      if at - since >= ceil(level, drain) then
        level = 0
      else
        level = level - (at - since) * drain
      end
    end
  end

  local cost = check.cost * unit
  local allowed = check.cost == 0 or level <= full - cost
  local retry = -1
  if not allowed then
    retry = ceil(level - (full - cost), drain)
  else
    level = level + cost
  end
  local remaining = quotient(full - level, unit)
  local reset, next = -1, -1
  if level > 0 then
    next = ceil(level - full + (remaining + 1) * unit, drain)
    reset = ceil(level, drain)
  end
  local d = { allowed and 1 or 0, remaining, reset, next, retry, at - now }
  d.held, d.life = held, reset + at - now
  if allowed and check.cost > 0 then
    d.write = function()
      return redis.pcall('SET', key, text(unit) .. ' ' .. text(at) .. ' ' .. text(level), 'PX', expiry(d.life))
    end
  end
  return d
end
