
-- An exact sliding log. The state is a sorted set with a member "tick-n" for each unit that was admitted, at its tick,
-- and behind them all one that names the window.
function laws.sl(key, check)
  local last = redis.pcall('ZRANGE', key, -2, -1, 'WITHSCORES')
  if failure(last) then
    return nil, last
  end
  local limit, cost, window, now = check.limit, check.cost, check.window, check.now
  local held, known = #last > 0, false
  local at, lapsed, live, newest = now, 0, 0, now
  if held then
    local w = string.match(last[3] or '', '^window%-(%d+)$')
    if not w or not string.match(last[1], '^%-?%d+%-%d+$') then
      return nil, foreign
    end
    newest = tonumber(last[2])
    -- An older instant is judged at that of the newest unit, unless it is older by more than a window.
    known = tonumber(w) == window and now >= newest - window
    if known then
      at = math.max(now, newest)
      lapsed = redis.call('ZCOUNT', key, '-inf', '(' .. text(at - window))
      live = redis.call('ZCARD', key) - 1 - lapsed
    end
  end
  local function oldest(n)
    return tonumber(redis.call('ZRANGE', key, lapsed + n - 1, lapsed + n - 1, 'WITHSCORES')[2])
  end

  local d = { 1, 0, -1, -1, -1, 0 }
  if cost > 0 and live > limit - cost then
    d[1], d[5] = 0, oldest(live + cost - limit) + window + 1 - now
  end
  local counts = cost > 0 and d[1] == 1
  d[2] = math.max(0, limit - live - (counts and cost or 0))
  if live > 0 then
    d[4] = oldest(math.max(1, live + 1 - limit)) + window + 1 - now
    d[3] = newest + window + 1 - now
  end
  if counts then
    d[3] = at + window + 1 - now
    if live == 0 then
      d[4] = d[3]
    end
    d.write = function()
      local members, n = {}, 0
      if known and newest == at then
        n = redis.call('ZCOUNT', key, text(at), text(at))
      elseif held and not known then
        redis.call('DEL', key)
      end
      for unit = n, n + cost - 1 do
        members[#members + 1] = text(at)
        members[#members + 1] = text(at) .. '-' .. text(unit)
      end
      if not known then
        members[#members + 1] = '+inf'
        members[#members + 1] = 'window-' .. text(window)
      end
      local answer = redis.pcall('ZADD', key, unpack(members))
      if failure(answer) then
        return answer
      end
      -- Trimming comes last: only the first write of a script is refused by a server that is full.
      if lapsed > 0 then
        redis.call('ZREMRANGEBYSCORE', key, '-inf', '(' .. text(at - window))
      end
      redis.call('PEXPIRE', key, expiry(d[3]))
    end
  end
  d.held, d.life = held, d[3]
  return d
end
