-- Reads a document that replicas share, or puts one in its place that is newer.
--
-- KEYS[1]  the document
-- ARGV     the version to put, or 0; when and by whom it was written, its text, life of the key in milliseconds
-- returns  {1 if it was put, and of the document that is there now: version, when, by whom, text}
local held = redis.pcall('HMGET', KEYS[1], 'version', 'at', 'by', 'text')
if held.err then
  return held
end
local version = tonumber(held[1] or 0)
if not version or version < 0 or version ~= math.floor(version) then
  return { 'FOREIGN' }
end
local put = 0
if tonumber(ARGV[1]) > version then
  local answer = redis.pcall('HSET', KEYS[1], 'version', ARGV[1], 'at', ARGV[2], 'by', ARGV[3], 'text', ARGV[4])
  if type(answer) == 'table' then
    return answer
  end
  put, held = 1, { ARGV[1], ARGV[2], ARGV[3], ARGV[4] }
end
-- Whoever reads keeps it alive, and writes for that once in a long while.
if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[5]) / 2 then
  redis.call('PEXPIRE', KEYS[1], ARGV[5])
end
return { put, held[1] or '0', held[2] or '', held[3] or '', held[4] or '' }
