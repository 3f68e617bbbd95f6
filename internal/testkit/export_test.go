//go:build unix

package testkit

// Holed returns how many of the open connections have lost bytes in a black hole.
func (p *FaultProxy) Holed() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := 0
	for k := range p.links {
		if k.holed.Load() {
			n++
		}
	}
	return n
}
