
-- Makes a lease that lives live for one window from now. The check is that of the lease. It returns {1}, or {0} if the
-- lease lapsed.
local window, now, lease = tonumber(ARGV[3]), instant(ARGV[5]), ARGV[6]
local state, failed = places(KEYS[1], window, now)
if failed then
  return failed
end
if not holds(KEYS[1], state, lease) then
  heal(KEYS[1], state)
  return { 0 }
end
return hold(KEYS[1], state, lease, window, now) or { 1 }
