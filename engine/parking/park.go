package parking

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/mockbase/mockbase/engine/fault"
)

// delayedHost is the host of the requests that delayed answers are written to. Who sends it gains nothing by that.
const delayedHost = "delayed.invalid"

// reception is the handler that net/http calls.
type reception struct {
	next http.Handler
	lot  *Lot
}

var _ http.Handler = (*reception)(nil)

// ServeHTTP calls for delayed answers, has connections closed whose requests can be read in two ways (rule N5), and refuses heads of
// HTTP/2 (rules N4 and N7).
func (s *reception) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if t := s.unusual(r); t != nil {
		t.acquit()
		if t.misframed(r) {
			w.Header()["Connection"] = []string{"close"}
		}
		if d := t.line.takeDelayed(); d != nil {
			d.Answer(w, r)
			return
		}
	}
	if r.ProtoMajor == 2 && s.lot.refuses(w, r) {
		return
	}
	s.next.ServeHTTP(w, r)
}

// unusual returns the tenancy of a request that needs a look at its connection; nil for most.
func (s *reception) unusual(r *http.Request) *tenancy {
	if r.ProtoMajor == 1 && (r.TransferEncoding != nil || r.ProtoMinor == 0 || r.Host == delayedHost || s.lot.closing.Load()) {
		return tenancyOf(r.Context())
	}
	return nil
}

func tenancyOf(ctx context.Context) *tenancy {
	if in, ok := fault.Connection(ctx).(lodger); ok {
		return in.tenant()
	}
	return nil
}

// Park gives the connection of a request back to the lot, with an answer that is delayed by so much. The handler must have
// read all that it wants of the body and written nothing; it panics with [http.ErrAbortHandler] next, and the answer goes on
// after wake was called, or when the client leaves. It returns false where the handler has to wait by itself: for short
// delays, on HTTP/2, without a lot, when more was sent than the request, or when the server closes.
func Park(r *http.Request, delay time.Duration, d *Delayed) (wake func(), parked bool) {
	if r.ProtoMajor != 1 || r.Method == http.MethodConnect {
		return nil, false
	}
	t := tenancyOf(r.Context())
	if t == nil || delay < t.line.lot.shortest {
		return nil, false
	}
	d.head = headLike(r)
	if !t.parks(d) {
		return nil, false
	}
	return func() { t.line.wake(d) }, true
}

// headLike is the shortest head for which net/http writes the same answer: the method says whether there is a body, the
// version and the connection header how it ends.
func headLike(r *http.Request) []byte {
	var b strings.Builder
	b.WriteString(r.Method + " / HTTP/1." + strconv.Itoa(r.ProtoMinor) + "\r\nHost: " + delayedHost + "\r\n")
	switch {
	case r.ProtoMinor == 0 && !r.Close:
		b.WriteString("Connection: keep-alive\r\n")
	case r.ProtoMinor > 0 && r.Close:
		b.WriteString("Connection: close\r\n")
	}
	b.WriteString("\r\n")
	return []byte(b.String())
}
