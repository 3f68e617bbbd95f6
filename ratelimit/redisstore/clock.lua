
-- A fixed window on the clock, for checks that are judged with others: alone they are INCRBY and EXPIRE. The key names
-- the window, and the state is its count. Denied checks are counted too. What remains and the waits are for the caller
-- to say; in their place the decision holds the count after the check.
function laws.fw(key, check)
  local held = redis.pcall('GET', key)
  if failure(held) then
    return nil, held
  end
  if held and not string.match(held, '^%-?%d+$') then
    return nil, foreign
  end
  local count = (held and tonumber(held) or 0) + check.cost
  local denied = check.cost > 0 and count > check.limit
  -- No limit lies above 2^53 - 1; beyond it the numbers of scripts are no longer exact.
  local d = { denied and 0 or 1, math.min(count, 9007199254740992), -1, -1, -1, 0 }
  d.held, d.life = held, check.window
  if check.cost > 0 then
    d.write = function()
      local answer = redis.pcall('INCRBY', key, text(check.cost))
      if failure(answer) and not string.find(answer.err, 'overflow', 1, true) then
        return answer
      end
      redis.call('PEXPIRE', key, text(math.max(check.window / 1000, least)))
    end
  end
  return d
end
