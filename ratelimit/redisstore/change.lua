-- Puts a record in the place of the one with an epoch.
--
-- KEYS[1]  the circuit
-- ARGV     the epoch, state, since, step, recovery, force, its end, life of the key in milliseconds
-- returns  {1 if it did}
local known = redis.pcall('HMGET', KEYS[1], 'epoch', 'state', 'step')
if known.err then
  return known
end
if tonumber(known[1] or 0) ~= tonumber(ARGV[1]) then
  return { 0 }
end
local epoch = string.format('%.0f', tonumber(ARGV[1]) + 1)
local answer = redis.pcall('HSET', KEYS[1], 'epoch', epoch, 'state', ARGV[2], 'since', ARGV[3], 'step', ARGV[4],
  'recovery', ARGV[5], 'force', ARGV[6], 'ends', ARGV[7])
if type(answer) == 'table' then
  return answer
end
if (known[2] or '') ~= ARGV[2] or (known[3] or '0') ~= ARGV[4] then
  redis.call('HSET', KEYS[1], 'since_state', 0)
  if ARGV[2] == '' or ARGV[2] == 'closed' then
    -- It would trip over the flood that has just ended.
    redis.call('HDEL', KEYS[1], 'offered', 'admitted', 'before_offered', 'before_admitted')
  end
end
redis.call('PEXPIRE', KEYS[1], ARGV[8])
return { 1 }
