package redisstore

// Greeted is closed when the store has met Redis, or found out that it is away.
func (s *Store) Greeted() <-chan struct{} { return s.greeted }
