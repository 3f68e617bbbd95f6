
-- Checks in order, up to the first denial. It returns six numbers for each that was judged. Before one that fails it
-- stops as well: what was judged until then is counted.
local numbers = {}
for i = 1, #KEYS do
  local d, failed = judge(i)
  failed = failed or settle(KEYS[i], d)
  if failed then
    if i == 1 then
      return failed
    end
    break
  end
  for n = 1, 6 do
    numbers[#numbers + 1] = d[n]
  end
  if d[1] == 0 then
    break
  end
end
return numbers
