package httplimit

import "net/http"

// HeaderHash is the header hash of a fingerprint.
func HeaderHash(i *Identity, r *http.Request) string { return i.ask(r).headerHash() }
