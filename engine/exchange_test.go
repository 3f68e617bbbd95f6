package engine_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"path/filepath"
	"runtime/pprof"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/engine"
	"github.com/mockbase/mockbase/engine/parking"
	"github.com/mockbase/mockbase/engine/simlimit"
	"github.com/mockbase/mockbase/internal/testkit"
	"github.com/mockbase/mockbase/openapi"
)

// The cases in testdata/exchange are archives of files that are steps, done in their order. The name of a file is a verb,
// which may have an argument behind a blank:
//
//	options        one word or "name value" a line: shared-origin, sandbox-project, shield N (admit N requests),
//	               max-target N, max-body N, max-sessions N, loopback (may be called), record (proxies make mocks),
//	               upstream-tls (its certificate is its own), frozen (the wall clock stands still)
//	upstream C     an answer of the server that {upstream} is the URL of and {upstream-host} the address; the next request gets
//	               the next answer, the last one is given again. Its body is coded by the codings C
//	definition     the project, as YAML; a second one is published in place of the first, mocks are the same by their names
//	refused        instead of the rest: lines "code pointer" of the faults that the definition must have
//	request C      a raw request; its line ends become CR LF, {base} is the project's base path, a missing Host is added and
//	               Content-Length: auto is worked out. Its body is coded by the codings C: gzip, deflate, raw-deflate, br,
//	               zstd; base64 and quoted decode it
//	answer         the status line, or the status alone; then header lines that must be there as they stand, "! Name" for a
//	               header that must not, "~ regexp" for what some header line must match; then an empty line and the body
//	hints          header lines of the 103 before the last answer; trailers: the lines after its body, as they stand
//	file NAME      a file below the files root, before the definition
//	break          a raw request whose connection must end with the answer; everything is read
//	broken         eof or reset, as the connection ended; then the bytes that came, "~ regexp" for what they must match
//	leave D        a raw request whose client leaves after the duration D
//	crowd N        raw requests, divided by lines of "---", each sent N times at the same time
//	counts         lines "N status body" of what a crowd was answered, sorted
//	seen           the next request that came to the upstream, in the form of an answer; unseen D: none comes within D
//	recorded NAME  the mock whose name begins so, made by a recording: a JSON text that it must hold at least
//	replay         takes all mocks but the recorded ones away
//	talk           what goes over a connection that was upgraded: "> text", ">ping text", ">close CODE reason", ">raw HEX"
//	               are sent, "< text", "<ping text", "<pong text", "<close CODE reason" and "<end" are expected
//	session        a JSON object: a session to be made; end: the name of one to be ended
//	clock          "advance 60s" or "reset" for the clock of the default session, or of the one named behind it
//	reset          levels that a reset of the default session, or of the one that is the argument, takes back
//	anew           another server with the same definition takes the place of the one before
//	keep NAME      keeps the body of the last answer; same NAME, other NAME: the body is the kept one, or is not
//	took           two durations that the last answer took at least and at most
//	contains       lines that the body of the last answer must hold, lacks: must not
//	json           a JSON text that the body must hold at least, exchange: the recorded exchange must, later: it must in the
//	               end
//
// Requests of a case go over one connection, which is opened again when the server closed it. Cases that need the
// management plane are in testdata/server, and run with the program.
func TestExchanges(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/exchange/*/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.ToSlash(strings.TrimPrefix(file, "testdata/exchange/")), ".txtar")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			x := &exchangeCase{}
			x.unpublished = slices.ContainsFunc(archive.Files, func(f txtar.File) bool { return f.Name == "refused" })
			x.breaks = slices.ContainsFunc(archive.Files, func(f txtar.File) bool { return f.Name == "break" })
			// Whatever a goroutine starts inherits its labels.
			pprof.Do(t.Context(), pprof.Labels("case", name), func(context.Context) {
				for _, f := range archive.Files {
					x.step(t, f.Name, string(f.Data))
				}
			})
			if x.conn != nil {
				x.conn.Close()
			}
			leavesNoRequest(t, name)
		})
	}
}

// exchangeCase is a case under way.
type exchangeCase struct {
	options  engine.Options
	engine   *engine.Engine
	shop     *studio
	upstream *upstream
	recorded *recorder
	address  string
	conn     net.Conn
	reader   *bufio.Reader
	sent     int
	// unpublished tells that the definition is only checked, breaks that requests are sent whose exchanges are not counted.
	unpublished, breaks bool
	// records tells that proxies make mocks, upstreamTLS that the upstream is one of https.
	records, upstreamTLS bool
	kept                 map[string]string
	counts               map[string]int
	definition           string
	hints                []string
	asked                mockbase.SampleRequest
	trailers             []string
	took                 time.Duration

	// The last answer.
	method string
	status string
	header []string
	body   string
}

// verbs are the steps of cases that need nothing of the rest of the file's name.
var verbs = map[string]func(x *exchangeCase, t *testing.T, argument, data string){
	"options":    (*exchangeCase).setOptions,
	"upstream":   (*exchangeCase).answerUpstream,
	"definition": (*exchangeCase).define,
	"refused":    (*exchangeCase).refused,
	"request":    (*exchangeCase).send,
	"answer":     (*exchangeCase).expect,
	"hints":      (*exchangeCase).hinted,
	"trailers":   (*exchangeCase).trailed,
	"file":       (*exchangeCase).file,
	"break":      (*exchangeCase).breakOff,
	"broken":     (*exchangeCase).broken,
	"leave":      (*exchangeCase).leave,
	"crowd":      (*exchangeCase).crowd,
	"counts":     (*exchangeCase).counted,
	"seen":       (*exchangeCase).sawUpstream,
	"unseen":     (*exchangeCase).sawNothing,
	"recorded":   (*exchangeCase).recordedMock,
	"replay":     (*exchangeCase).replayed,
	"talk":       (*exchangeCase).talk,
	"session":    (*exchangeCase).createSession,
	"end":        (*exchangeCase).endSession,
	"clock":      (*exchangeCase).changeClock,
	"reset":      (*exchangeCase).reset,
	"anew":       (*exchangeCase).startAnew,
	"keep":       (*exchangeCase).keep,
	"same":       (*exchangeCase).same,
	"other":      (*exchangeCase).other,
	"took":       (*exchangeCase).lasted,
	"contains":   (*exchangeCase).contains,
	"lacks":      (*exchangeCase).lacks,
	"json":       (*exchangeCase).holds,
	"exchange":   (*exchangeCase).wasRecorded,
	"later":      (*exchangeCase).later,
}

func (x *exchangeCase) setOptions(t *testing.T, _, data string) {
	t.Helper()
	for line := range strings.Lines(data) {
		x.option(t, strings.TrimSpace(line))
	}
}

func (x *exchangeCase) hinted(t *testing.T, _, data string) {
	t.Helper()
	matchLines(t, data, x.hints)
}

func (x *exchangeCase) trailed(t *testing.T, _, data string) {
	t.Helper()
	matchLines(t, data, x.trailers)
}

func (x *exchangeCase) replayed(t *testing.T, _, _ string) {
	t.Helper()
	x.shop.replay(t)
}

func (x *exchangeCase) startAnew(t *testing.T, _, _ string) {
	t.Helper()
	x.start(t)
}

func (x *exchangeCase) holds(t *testing.T, _, data string) {
	t.Helper()
	testkit.HoldsJSON(t, data, []byte(x.body))
}

func (x *exchangeCase) step(t *testing.T, name, data string) {
	t.Helper()
	verb, argument, _ := strings.Cut(name, " ")
	do := verbs[verb]
	if do == nil {
		t.Fatalf("unknown file %q", name)
	}
	do(x, t, argument, x.filled(data))
}

// filled puts what only the case knows into a text.
func (x *exchangeCase) filled(text string) string {
	if x.upstream == nil {
		return text
	}
	text = strings.ReplaceAll(text, "{upstream}", x.upstream.url)
	return strings.ReplaceAll(text, "{upstream-host}", x.upstream.address)
}

func (x *exchangeCase) option(t *testing.T, line string) {
	t.Helper()
	name, value, _ := strings.Cut(line, " ")
	n, err := strconv.ParseInt(value, 10, 64)
	if err != nil && value != "" {
		t.Fatal(err)
	}
	switch name {
	case "frozen":
		now := time.Now()
		x.options.Clock = func() time.Time { return now }
	case "shared-origin":
		x.options.SharedOrigin = true
	case "sandbox-project":
		x.options.Sandbox = engine.SandboxProject
	case "shield":
		x.options.Shield = &countingShield{left: int(n)}
	case "record":
		x.records = true
	case "upstream-tls":
		x.upstreamTLS = true
	case "loopback":
		x.options.Upstreams.Loopback = true
	case "max-sessions":
		x.options.MaxSessions = int(n)
	case "max-target":
		x.options.MaxTarget = n
	case "max-body":
		x.options.MaxBody = n
	default:
		t.Fatalf("unknown option %q", name)
	}
}

func (x *exchangeCase) define(t *testing.T, _, definition string) {
	t.Helper()
	x.definition = definition
	switch {
	case x.unpublished:
	case x.shop == nil:
		x.start(t)
	default:
		x.shop.define(t, definition)
	}
}

func (x *exchangeCase) start(t *testing.T) {
	t.Helper()
	if x.conn != nil {
		x.conn.Close()
	}
	x.conn, x.sent, x.recorded = nil, 0, &recorder{}
	x.options.Journal = x.recorded
	x.shop = &studio{}
	if x.records {
		x.shop.record(t, &x.options)
	}
	e := newEngine(t, x.options)
	x.shop.engine = e
	x.shop.define(t, x.definition)
	x.engine, x.address = e, serveEngine(t, e)
}

func (x *exchangeCase) refused(t *testing.T, _, data string) {
	t.Helper()
	var got strings.Builder
	for _, f := range faultsOf(t, newEngine(t, x.options), x.definition) {
		fmt.Fprintf(&got, "%s %s\n", f.Code, f.Pointer)
	}
	if diff := cmp.Diff(data, got.String()); diff != "" {
		t.Errorf("faults (-want +got):\n%s", diff)
	}
}

// wire turns the text of a request into what goes over the wire.
func wire(t *testing.T, codings, text string) []byte {
	t.Helper()
	head, body, _ := strings.Cut(text, "\n\n")
	head = strings.ReplaceAll(strings.TrimSuffix(head, "\n"), "{base}", "/m/shop")
	body = coded(t, codings, strings.TrimSuffix(body, "\n"))
	head = strings.Replace(head, "Content-Length: auto", "Content-Length: "+strconv.Itoa(len(body)), 1)
	if !strings.Contains(strings.ToLower(head), "\nhost:") {
		line, rest, _ := strings.Cut(head, "\n")
		head = strings.TrimSuffix(line+"\nHost: mock.test\n"+rest, "\n")
	}
	if strings.Contains(head, "Transfer-Encoding: chunked") {
		body = strings.ReplaceAll(body+"\n", "\n", "\r\n")
	}
	return []byte(strings.ReplaceAll(head, "\n", "\r\n") + "\r\n\r\n" + body)
}

func (x *exchangeCase) send(t *testing.T, codings, text string) {
	t.Helper()
	x.method, _, _ = strings.Cut(text, " ")
	request := wire(t, codings, text)
	if strings.Contains(text, "{base}") {
		// Only what is asked of the project is recorded.
		x.sent++
		foretold := x.foretell(t, request)
		defer func() { x.agrees(t, foretold) }()
	}
	began := time.Now()
	defer func() { x.took = time.Since(began) }()
	for range 2 {
		if x.conn == nil {
			x.dial(t)
		}
		if _, err := x.conn.Write(request); err == nil && x.read() == nil {
			return
		}
		// The server has closed the connection after the last answer.
		x.conn.Close()
		x.conn = nil
	}
	t.Fatalf("no answer to %q", request)
}

func (x *exchangeCase) dial(t *testing.T) {
	t.Helper()
	var d net.Dialer
	conn, err := d.DialContext(t.Context(), "tcp", x.address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	x.conn, x.reader = conn, bufio.NewReader(conn)
}

// read reads one answer.
func (x *exchangeCase) read() error {
	x.status, x.header, x.body, x.hints, x.trailers = "", nil, "", nil, nil
	for {
		line, err := x.reader.ReadString('\n')
		if err != nil {
			return err
		}
		line = strings.TrimSuffix(line, "\r\n")
		switch {
		case line == "" && strings.HasPrefix(x.status, "HTTP/1.1 101"):
			return nil
		case line == "" && strings.HasPrefix(x.status, "HTTP/1.1 1"):
			x.status, x.header, x.hints = "", nil, x.header
		case line == "":
			return x.readBody()
		case x.status == "":
			x.status = line
		default:
			x.header = append(x.header, line)
		}
	}
}

func (x *exchangeCase) readBody() error {
	var body []byte
	var err error
	code := strings.Fields(x.status)[1]
	length := x.headerValue("Content-Length")
	switch {
	case x.method == http.MethodHead || code == "204" || code == "304":
	case x.headerValue("Transfer-Encoding") == "chunked":
		if body, err = io.ReadAll(httputil.NewChunkedReader(x.reader)); err == nil {
			err = x.readTrailers()
		}
	case length != "":
		n, convErr := strconv.Atoi(length)
		if convErr != nil {
			return convErr
		}
		body = make([]byte, n)
		_, err = io.ReadFull(x.reader, body)
	default:
		body, err = io.ReadAll(x.reader)
	}
	x.body = string(body)
	return err
}

// readTrailers reads what follows the last chunk.
func (x *exchangeCase) readTrailers() error {
	for {
		line, err := x.reader.ReadString('\n')
		if line = strings.TrimSuffix(line, "\r\n"); err != nil || line == "" {
			return err
		}
		x.trailers = append(x.trailers, line)
	}
}

func (x *exchangeCase) headerValue(name string) string {
	for _, line := range x.header {
		if n, value, _ := strings.Cut(line, ": "); strings.EqualFold(n, name) {
			return value
		}
	}
	return ""
}

func (x *exchangeCase) expect(t *testing.T, _, data string) {
	t.Helper()
	(&testkit.Message{First: x.status, Lines: x.header, Body: x.body}).Check(t, data)
}

func newEngine(tb testing.TB, o engine.Options) *engine.Engine {
	tb.Helper()
	o.Describe = func(d *mockbase.Document) (engine.Description, error) { return openapi.Compile(d) }
	if o.Limits == nil {
		o.Limits = newKeeper(tb, simlimit.Options{Clock: o.Clock})
	}
	if o.KeySecret == nil {
		o.KeySecret = []byte("the secret of the corpus") // Digests of keys stand in the cases.
	}
	e, err := engine.New(o)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { e.Close() })
	return e
}

// faultsOf returns what is wrong with a definition, by the decoder and the engine.
func faultsOf(tb testing.TB, e *engine.Engine, definition string) []mockbase.FieldError {
	tb.Helper()
	d, err := mockbase.DecodeDefinition([]byte(definition), mockbase.FormatYAML)
	if invalid, ok := errors.AsType[*mockbase.Error](err); ok {
		return invalid.Fields
	}
	if err != nil {
		tb.Fatal(err)
	}
	return checkDefinition(e, d)
}

func checkDefinition(e *engine.Engine, d *mockbase.Definition) []mockbase.FieldError {
	fields := e.CheckConfig(&d.Config)
	for i, m := range d.Mocks {
		for _, f := range e.CheckMock(&d.Config, m) {
			f.Pointer = fmt.Sprintf("#/mocks/%d%s", i, f.Pointer[1:])
			fields = append(fields, f)
		}
	}
	return fields
}

// publishDefinition publishes a definition as the project shop.
func publishDefinition(tb testing.TB, e *engine.Engine, definition string) {
	tb.Helper()
	publishAs(tb, e, definition, &mockbase.Project{ID: "prj_shop", Slug: "shop", Access: mockbase.AccessPublic, Revision: 1})
}

// publishAs publishes a definition in a project.
func publishAs(tb testing.TB, e *engine.Engine, definition string, p *mockbase.Project) {
	tb.Helper()
	d, err := mockbase.DecodeDefinition([]byte(definition), mockbase.FormatYAML)
	if err != nil {
		tb.Fatal(err)
	}
	if faults := checkDefinition(e, d); len(faults) > 0 {
		tb.Fatal(faults)
	}
	for i, m := range d.Mocks {
		m.ID, m.Version = fmt.Sprintf("mck_%d", i), 1
	}
	p.Config = d.Config
	if err := e.Publish(&mockbase.Snapshot{Project: p, Mocks: d.Mocks}); err != nil {
		tb.Fatal(err)
	}
}

// serveEngine serves over a real socket and returns its address.
func serveEngine(tb testing.TB, h http.Handler) string {
	tb.Helper()
	address, _ := serveInLot(tb, h)
	return address
}

func serveInLot(tb testing.TB, h http.Handler) (address string, lot *parking.Lot) {
	tb.Helper()
	var config net.ListenConfig
	listener, err := config.Listen(tb.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	return listener.Addr().String(), serveOn(tb, h, listener)
}

func serveOn(tb testing.TB, h http.Handler, listener net.Listener) *parking.Lot {
	tb.Helper()
	server := &http.Server{
		Handler: h, ReadHeaderTimeout: 10 * time.Second, MaxHeaderBytes: 64 << 10, DisableGeneralOptionsHandler: true,
	}
	// Every delay is parked, and connections go back and forth between most requests: neither may ever show.
	lot := parking.New(server, parking.Options{Shortest: time.Nanosecond, Linger: 5 * time.Millisecond})
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = lot.Serve(listener)
	}()
	tb.Cleanup(func() {
		_ = lot.Close()
		<-done
	})
	return lot
}
