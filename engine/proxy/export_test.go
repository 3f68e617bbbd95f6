package proxy

import "net"

// RewriteLocation rewrites a Location that answers a request with this target.
func RewriteLocation(r *Route, target, location string) string {
	return r.location(&Request{Target: target, OwnBase: "/m/shop"}, location)
}

// Observe is a connection as net/http gets it, on which a request of a method was sent.
func Observe(conn net.Conn, method string) net.Conn {
	o := &observed{Conn: conn}
	o.expect(method)
	o.asked = true
	return o
}

// Silent is one on which none was sent.
func Silent(conn net.Conn) net.Conn {
	o := &observed{Conn: conn}
	o.expect("GET")
	return o
}
