
-- One check. It returns the six numbers of the decision.
local d, failed = judge(1)
failed = failed or settle(KEYS[1], d)
if failed then
  return failed
end
return { d[1], d[2], d[3], d[4], d[5], d[6] }
