-- A counter that grows by a cost and lives for a window: INCRBY and PEXPIRE where no transaction holds them together.
--
-- KEYS[1]  the counter
-- ARGV     cost, window in milliseconds
-- returns  {the counter after the check}, or the error of INCRBY
local count = redis.pcall('INCRBY', KEYS[1], ARGV[1])
if type(count) == 'table' then
  return count
end
redis.call('PEXPIRE', KEYS[1], ARGV[2])
-- No limit lies above 2^53 - 1; beyond it the numbers of scripts are no longer exact.
return {math.min(count, 9007199254740992)}
