package management

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/mockbase/mockbase"
)

// The bounds of streams (rule M-70).
const (
	streamsOfCaller  = 20
	streamsInAll     = 500
	maxBatch         = 500
	defaultBatch     = 250 * time.Millisecond
	longestBatch     = 10 * time.Second
	pingEvery        = 15 * time.Second
	checkEvery       = 3 * time.Second
	streamWriteLimit = 10 * time.Second
	// streamPatience is as good as without end.
	streamPatience = 365 * 24 * time.Hour
)

// eventTypes are what a stream may be asked for.
func eventTypes() []string {
	return []string{"exchange", "limit", "mock", "session", "scenario", "document"}
}

// streams counts the open streams, and ends them.
type streams struct {
	mu     sync.Mutex
	byUser map[string]int
	all    int
	ended  context.Context //nolint:containedctx // all streams end with it
	end    context.CancelFunc
}

func newStreams() *streams {
	s := &streams{byUser: map[string]int{}}
	s.ended, s.end = context.WithCancel(context.Background())
	return s
}

// open counts one more stream of a caller, unless there are too many.
func (s *streams) open(user string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all >= streamsInAll || s.byUser[user] >= streamsOfCaller {
		return false
	}
	s.all++
	s.byUser[user]++
	return true
}

func (s *streams) close(user string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all--
	if s.byUser[user]--; s.byUser[user] == 0 {
		delete(s.byUser, user)
	}
}

// EndStreams ends the streams of events that are open, so that a server which stops need not wait for their readers.
func (s *Server) EndStreams() { s.streams.end() }

// events is one stream of events (M-182).
type events struct {
	server *Server
	call   *call
	filter mockbase.TrafficFilter
	// exchanges tells that exchanges are asked for; kinds are the others that are.
	exchanges bool
	kinds     []string
	batch     time.Duration
	place     int64
	// last is the id of the newest exchange that was told.
	last  string
	watch *watch
	// number is that of the newest event of another kind that was told.
	number  int64
	project *mockbase.Snapshot
}

// streamEvents tells what happens in a project as it happens (M-182, rule M-70). Each stream comes for its news when it has
// written the last ones, so that a slow reader loses some and holds nobody up.
func (s *Server) streamEvents(c *call) error {
	e, after, err := s.readEvents(c)
	if err != nil {
		return err
	}
	user := c.caller.user.ID
	if !s.streams.open(user) {
		return withHeader(&mockbase.Error{
			Code: mockbase.CodeTooManyStreams, Message: "there are too many streams of events open", Hint: "close those that nobody reads",
		}, "Retry-After", "15")
	}
	defer s.streams.close(user)
	h := c.header()
	h.Set("Content-Type", typeEvents)
	h.Set("X-Accel-Buffering", "no")
	c.Response().WriteHeader(http.StatusOK)
	if c.Request().Method == http.MethodHead {
		return nil
	}
	if len(e.kinds) > 0 {
		e.watch = s.watches.join(c.project.Project.ID, e.kinds, time.Now())
		defer func() { s.watches.leave(e.watch, e.kinds, time.Now()) }()
		e.watch.settle(s)
	}
	e.begin(after)
	e.run()
	return nil
}

// readEvents reads what is asked for, and the id of the exchange to go on after.
func (s *Server) readEvents(c *call) (e *events, after string, err error) {
	p := c.params()
	e = &events{server: s, call: c, filter: trafficFilter(p), batch: defaultBatch, project: c.project}
	c.mask(&e.filter)
	types := eventTypes()
	if text := p.text("types"); text != "" {
		types = strings.Split(text, ",")
		for _, name := range types {
			if !slices.Contains(eventTypes(), name) {
				p.fault("types", mockbase.FieldEnum, "types are some of %s", strings.Join(eventTypes(), ", "))
			}
		}
	}
	e.exchanges = slices.Contains(types, "exchange")
	e.kinds = slices.DeleteFunc(types, func(name string) bool { return name == "exchange" })
	if text := p.text("batch"); text != "" {
		d, parseErr := mockbase.ParseDuration(text)
		if parseErr != nil || d < time.Millisecond || d > longestBatch {
			p.fault("batch", mockbase.FieldRange, "batch is a duration from 1ms to %s", longestBatch)
		}
		e.batch = d
	}
	after = p.text("after")
	if sent := c.Request().Header.Get("Last-Event-Id"); sent != "" {
		after = sent
	}
	return e, after, p.err()
}

// begin says hello, and where the stream goes on: after what the client saw last, if that is still kept.
func (e *events) begin(after string) {
	id := e.project.Project.ID
	exchange, number := readPlace(after)
	newest := e.newest()
	place, kept := int64(0), true
	if after == "" || exchange != "" {
		place, kept = e.server.Traffic.Position(id, exchange)
	}
	if e.watch != nil {
		e.number = e.watch.end()
		if number != 0 && kept {
			kept = e.watch.holds(number)
		}
		if number != 0 && kept {
			e.number = number
		}
	}
	if !kept {
		place, _ = e.server.Traffic.Position(id, "")
	}
	e.place = place
	e.last = newest
	if kept {
		// What the client has missed comes after hello, whose id must not lead beyond it.
		e.last = cmp.Or(exchange, newest)
	}
	e.write("hello", struct {
		Now    string  `json:"now"`
		LastID *string `json:"lastId"`
	}{timeText(e.server.clock()), maybeText(newest)})
	if !kept {
		e.resync(after, 0)
	}
}

// newest is the id of the newest exchange, "" if there is none.
func (e *events) newest() string {
	if x, ok := e.server.Traffic.Exchange(e.project.Project.ID, "latest"); ok {
		return x.ID
	}
	return ""
}

// resync says that events are missing, so that the client looks at everything anew.
func (e *events) resync(after string, dropped int64) bool {
	return e.write("resync", struct {
		After   string `json:"after"`
		Dropped int64  `json:"dropped,omitempty"`
	}{after, dropped})
}

// nobody stands for an exchange in the place of a stream before the first one.
const nobody = "-"

// placeText is where a stream is: the id of the newest exchange, and the number of the newest event of another kind.
func (e *events) placeText() string {
	if e.watch == nil {
		return e.last
	}
	return cmp.Or(e.last, nobody) + "." + strconv.FormatInt(e.number, 10)
}

// readPlace reads what placeText wrote, or the id of an exchange.
func readPlace(text string) (exchange string, number int64) {
	exchange, rest, _ := strings.Cut(text, ".")
	if exchange == nobody {
		exchange = ""
	}
	number, err := strconv.ParseInt(rest, 10, 64)
	if err != nil {
		number = 0 // there is none, or it is nobody's: the stream goes on with what comes
	}
	return exchange, number
}

// run tells news until the client leaves, the server stops or the credential ends.
func (e *events) run() {
	tick := time.NewTicker(e.batch)
	defer tick.Stop()
	ping := time.NewTicker(pingEvery)
	defer ping.Stop()
	check := time.NewTicker(checkEvery)
	defer check.Stop()
	for alive := true; alive; {
		select {
		case <-e.call.ctx().Done():
			return
		case <-e.server.streams.ended.Done():
			e.bye("the server stops")
			return
		case <-tick.C:
			alive = e.tell()
		case <-ping.C:
			alive = e.comment("ping")
		case <-check.C:
			if reason := e.revoked(); reason != "" {
				e.bye(reason)
				return
			}
		}
	}
}

func (e *events) bye(reason string) {
	e.write("bye", struct {
		Reason string `json:"reason"`
	}{reason})
}

// revoked looks whether the caller may still see the project; it returns why not.
func (e *events) revoked() string {
	s, c := e.server, e.call
	found, err := s.holder(c, c.credential)
	if err != nil {
		if mockbase.ErrorCode(err) == mockbase.CodeTokenExpired {
			return "the credential has expired"
		}
		return "the credential was revoked"
	}
	c.caller = found
	if err := s.admit(c); err != nil {
		return "the project cannot be seen any more"
	}
	if err := s.permit(c); err != nil {
		return "the role in the project was taken away"
	}
	return ""
}

// tell writes what is new. It returns false when the client is gone.
func (e *events) tell() bool {
	if e.watch != nil && !e.tellOthers() {
		return false
	}
	if !e.exchanges {
		return true
	}
	e.call.mask(&e.filter)
	news := e.server.Traffic.News(e.project.Project.ID, e.place, e.filter, maxBatch)
	e.place = news.Place
	if len(news.Items) == 0 && news.Lost == 0 {
		return true
	}
	items := make([]exchangeSummary, len(news.Items))
	for i, x := range news.Items {
		items[i] = summarize(e.call.masked(x))
		e.last = x.ID
	}
	return e.write("exchange", struct {
		Items   []exchangeSummary `json:"items"`
		Dropped int64             `json:"dropped"`
	}{items, news.Lost})
}

// tellOthers writes what happened beside exchanges, each by itself.
func (e *events) tellOthers() bool {
	e.watch.look(e.server)
	news, lost := e.watch.news(e.number, maxBatch)
	if lost > 0 {
		after := e.placeText()
		if e.number += lost; !e.resync(after, lost) {
			return false
		}
	}
	for i := range news {
		n := &news[i]
		e.number++
		if slices.Contains(e.kinds, n.kind) && e.concerns(n.session) && !e.write(n.kind, n.data) {
			return false
		}
	}
	return true
}

// concerns tells whether something of a session is asked for; what is of the project always is.
func (e *events) concerns(session sessionName) bool {
	wanted := e.filter.Session
	return wanted == "" || session.ID == "" || wanted == session.ID || wanted == session.Name
}

// write writes one event. The id is where a client goes on.
func (e *events) write(kind string, data any) bool {
	var b strings.Builder
	b.WriteString("event: " + kind + "\n")
	if place := e.placeText(); place != "" {
		b.WriteString("id: " + place + "\n")
	}
	b.WriteString("data: ")
	b.Write(encode(data))
	return e.flush(strings.TrimRight(b.String(), "\n") + "\n\n")
}

func (e *events) comment(text string) bool { return e.flush(": " + text + "\n\n") }

// flush sends a text, within a time: who reads nothing at all is cut off.
func (e *events) flush(text string) bool {
	w := e.call.Response().Writer
	control := http.NewResponseController(w)
	// A writer that knows no deadlines, as in a test without a connection, goes without.
	_ = control.SetWriteDeadline(time.Now().Add(streamWriteLimit))
	if _, err := w.Write([]byte(text)); err != nil {
		return false
	}
	return control.Flush() == nil
}
