package proxy

// RewriteLocation rewrites a Location that answers a request with this target.
func RewriteLocation(r *Route, target, location string) string {
	return r.location(&Request{Target: target, OwnBase: "/m/shop"}, location)
}
