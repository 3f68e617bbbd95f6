package simlimit

import "sync"

// maxNamed is how many buckets have figures of their own: labels of metrics must be few.
const maxNamed = 200

// OtherBuckets is the name that the figures of further buckets have.
const OtherBuckets = "(other)"

// Checks are what became of the checks of a bucket.
type Checks struct {
	Allowed, Denied, DryDenied int64
}

// checks counts the checks by the name of their bucket.
type checks struct {
	mu     sync.Mutex
	byName map[string]*Checks
}

func (c *checks) note(o *Outcome) {
	c.mu.Lock()
	defer c.mu.Unlock()
	of := c.of(o.By.Bucket())
	switch {
	case o.Allowed:
		of.Allowed++
	case o.By.DryRun():
		of.DryDenied++
	default:
		of.Denied++
	}
}

func (c *checks) of(name string) *Checks {
	if c.byName == nil {
		c.byName = make(map[string]*Checks)
	}
	of := c.byName[name]
	if of == nil && len(c.byName) >= maxNamed {
		name = OtherBuckets
		of = c.byName[name]
	}
	if of == nil {
		of = new(Checks)
		c.byName[name] = of
	}
	return of
}

func (c *checks) all() map[string]Checks {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := make(map[string]Checks, len(c.byName))
	for name, of := range c.byName {
		all[name] = *of
	}
	return all
}
