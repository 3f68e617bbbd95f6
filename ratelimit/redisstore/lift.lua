-- Ends a ban, and forgets that there was one.
--
-- KEYS[1]  the ban
-- KEYS[2]  the offences
-- ARGV     instant, in ticks
-- returns  {1 if a ban was in force}
local ends = redis.pcall('HGET', KEYS[1], 'until')
if type(ends) == 'table' then
  return ends
end
if not ends then
  return { 0 }
end
redis.call('DEL', KEYS[1], KEYS[2])
if ends == '' or tonumber(ARGV[1]) < tonumber(ends) then
  return { 1 }
end
return { 0 }
