
-- Checks that are counted together or not at all. The last argument is 0 if one that is not among them was denied. It
-- returns six numbers for each; where one denies, those of the others are of a check without a cost.
local all = ARGV[#ARGV] == '1'
local decisions = {}
for i = 1, #KEYS do
  local d, failed = judge(i)
  if failed then
    return failed
  end
  decisions[i] = d
  all = all and d[1] == 1
end

local numbers = {}
for i = 1, #KEYS do
  local d = decisions[i]
  if all then
    local failed = settle(KEYS[i], d)
    if failed then
      return failed
    end
  else
    heal(KEYS[i], d)
    if d[1] == 1 then
      d = judge(i, 0)
    end
  end
  for n = 1, 6 do
    numbers[#numbers + 1] = d[n]
  end
end
return numbers
