
-- Gives back the place of a lease, whether it lapsed or not. With the last lease the state goes. It returns {1}, or {0}
-- if the lease held no place.
local window = tonumber(ARGV[3])
local state, failed = places(KEYS[1], window, instant(ARGV[5]))
if failed then
  return failed
end
local released = redis.call('ZREM', KEYS[1], '=' .. ARGV[6])
if state.held and redis.call('ZCARD', KEYS[1]) == 1 then
  redis.call('DEL', KEYS[1])
else
  state.life = math.max(state.life, window)
  heal(KEYS[1], state)
end
return { released }
