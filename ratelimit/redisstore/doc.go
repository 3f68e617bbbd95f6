// Package redisstore keeps limiter state in Redis, so that several processes share one count: one round trip a check, or a
// part of one.
//
// # Counting
//
// A fixed window on the clock is a counter under ratelimit:{namespace}:{identifier}:{window_start}. Each check is one
// transaction, MULTI INCR EXPIRE EXEC, sent in one piece; a peek is one GET. EXPIRE goes with every check: the key
// carries its window, so renewing harms nothing and heals a key that lost its end. All other algorithms, and windows that
// the first request opens, are one script each, which runs whole or not at all and decides as [ratelimit.Step] does, bit
// for bit. A script uses the clock of the server unless the check gives an instant; a denial and a peek write nothing. A
// sliding log takes up to 1,000 units a check. Every key that is written has an end.
//
// Several checks are judged together by one script too: [Store.TakeInOrder] up to the first denial, [Store.TakeAll] all
// or none. In a cluster the first is one round trip for each check that is judged, and the second needs keys in one slot,
// which are those of a [Tagged] store.
//
// # Checks that meet
//
// A check that finds nothing on its way to Redis goes at once, by itself. Every other one joins a queue, from which up to
// four flights take as many as wait, 256 at most, in one transaction; no timer holds a batch back. Each check has its own
// answer, its own error and its own deadline, and is not sent at all if that passed in the queue. What a batch kept from
// running, because another check's command ended the transaction, is sent once more, alone. In a cluster each master has
// a queue of its own, and a batch is a pipeline of scripts. More than 4,096 waiting checks are refused as queue_full.
//
// A key that Redis said is over its limit is denied without asking again until its window ends, for five seconds at
// most. Only [Store.Reset] in another process goes unnoticed for that time. [Store.Stats] counts all of this.
//
// # When Redis fails
//
// A check has a budget, 50 ms unless configured, which covers the wait for a connection, making one, writing and
// reading. The deadline does not hang on the caller's context: a client that hangs up does not undo its count. Nothing
// that may have been executed is sent a second time, so that a check is counted once at most. After five failures in a
// row, or when half of at least twenty checks within a second failed, the store's breaker opens: checks are answered at
// once with an error that wraps [ratelimit.ErrUnavailable], and Redis is not asked, except by a probe on a connection of
// its own, four times a second. The probe writes, so that neither a read-only replica nor a full server looks healthy.
// Its first success closes the breaker, with fresh connections.
//
// What a check does then is not decided here: [ratelimit.Limiter] turns errors into its failure mode.
//
// # Bans and circuits
//
// [Store.Bans] and [Store.Circuits] keep what package guard shares among the replicas of a server: who is banned, under
// ratelimit:ban:{rule/identifier}:…, and the state of the circuit, under ratelimit:circuit:{name}:…. Here the braces are
// characters: the keys that one script touches lie on one server of a cluster. Each question is one round trip within the
// budget of a check, behind the same breaker.
//
// # Documents
//
// [Store.Documents] keeps texts with versions that all replicas go by, under ratelimit:document:name. Of two changes to
// one version one is refused, and what is no document there is left alone and said to be [ratelimit.ErrStoreData].
//
// # What Redis must be
//
// Redis 6.2 or later, or Valkey: one server, a master behind Sentinel, or a Cluster. Give it an instance or a database
// of its own with maxmemory-policy noeviction: a server that evicts forgets counters without a word. The user needs
// MULTI, EXEC, INCR, INCRBY, EXPIRE, PEXPIRE, SET, GET, DEL and PING on the keys below the prefix; SELECT for another
// database than 0; EVAL, EVALSHA, SCRIPT LOAD, PTTL and TIME for scripts, with ZADD, ZCARD, ZCOUNT, ZRANGE, ZREM,
// ZREMRANGEBYSCORE and ZSCORE for logs and places; HSET, HGET, HMGET, HDEL, ZRANGEBYLEX and ZSCAN for bans and circuits; in
// a cluster EVALSHA, SCRIPT LOAD, CLUSTER SLOTS and COMMAND.
package redisstore
