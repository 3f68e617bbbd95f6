package engine_test

import (
	"bytes"
	"compress/flate"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"runtime/pprof"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/engine"
	"github.com/mockbase/mockbase/internal/testkit"
)

// coded codes a body by one coding after the other.
func coded(t *testing.T, codings, body string) string {
	t.Helper()
	for coding := range strings.FieldsSeq(codings) {
		switch coding {
		case "base64":
			plain, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(body), ""))
			if err != nil {
				t.Fatal(err)
			}
			body = string(plain)
		case "quoted":
			plain, err := strconv.Unquote(`"` + strings.ReplaceAll(body, "\n", "") + `"`)
			if err != nil {
				t.Fatal(err)
			}
			body = plain
		case "raw-deflate":
			var small bytes.Buffer
			w, err := flate.NewWriter(&small, flate.BestCompression)
			if err != nil {
				t.Fatal(err)
			}
			_, _ = io.WriteString(w, body)
			w.Close()
			body = small.String()
		default:
			body = string(engine.Encode(coding, []byte(body)))
		}
	}
	return body
}

// leave sends a request and goes away.
func (x *exchangeCase) leave(t *testing.T, argument, text string) {
	t.Helper()
	patience, err := time.ParseDuration(argument)
	if err != nil {
		t.Fatal(err)
	}
	x.conn = nil
	x.dial(t)
	x.sent++
	if _, err := x.conn.Write(wire(t, "", text)); err != nil {
		t.Fatal(err)
	}
	<-time.After(patience)
	x.conn.Close()
	x.conn = nil
}

// crowd sends many requests at the same time, each over a connection of its own.
func (x *exchangeCase) crowd(t *testing.T, argument, text string) {
	t.Helper()
	n, err := strconv.Atoi(argument)
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	var mu sync.Mutex
	x.counts = map[string]int{}
	began := time.Now()
	for one := range strings.SplitSeq(text, "\n---\n") {
		for range n {
			all.Go(func() {
				single := &exchangeCase{address: x.address, breaks: true}
				single.method, _, _ = strings.Cut(one, " ")
				single.dial(t)
				_, err := single.conn.Write(wire(t, "", one))
				if err == nil {
					err = single.read()
				}
				answer := err
				mu.Lock()
				defer mu.Unlock()
				if answer != nil {
					x.counts["error: "+answer.Error()]++
					return
				}
				x.counts[strings.TrimSpace(strings.Fields(single.status)[1]+" "+single.body)]++
			})
			x.sent++
		}
	}
	all.Wait()
	x.took = time.Since(began)
}

func (x *exchangeCase) counted(t *testing.T, _, data string) {
	t.Helper()
	got := make([]string, 0, len(x.counts))
	for answer, n := range x.counts {
		got = append(got, fmt.Sprintf("%d %s", n, answer))
	}
	slices.Sort(got)
	if diff := cmp.Diff(strings.Split(strings.TrimSuffix(data, "\n"), "\n"), got); diff != "" {
		t.Errorf("answers (-want +got):\n%s", diff)
	}
}

func (x *exchangeCase) recordedMock(t *testing.T, name, data string) {
	t.Helper()
	var names []string
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("there are the mocks %q, and %s", names, x.body)
		}
	})
	await(t, "the mock "+name+" is recorded, with "+data, func() bool {
		x.shop.mu.Lock()
		defer x.shop.mu.Unlock()
		names = names[:0]
		for _, m := range x.shop.snapshot.Mocks {
			names = append(names, m.Name)
		}
		at := slices.IndexFunc(x.shop.snapshot.Mocks, func(m *mockbase.Mock) bool { return strings.HasPrefix(m.Name, name) })
		if at < 0 {
			return false
		}
		document := x.shop.snapshot.Mocks[at].Document
		x.body = string(document)
		place, err := testkit.LackingJSON(data, document)
		return err == nil && place == ""
	})
}

func (x *exchangeCase) createSession(t *testing.T, _, data string) {
	t.Helper()
	var spec mockbase.SessionSpec
	if err := json.Unmarshal([]byte(data), &spec); err != nil {
		t.Fatal(err)
	}
	if _, err := x.engine.CreateSession("prj_shop", &spec); err != nil {
		t.Fatal(err)
	}
}

func (x *exchangeCase) endSession(t *testing.T, _, data string) {
	t.Helper()
	if err := x.engine.EndSession("prj_shop", strings.TrimSpace(data)); err != nil {
		t.Fatal(err)
	}
}

func (x *exchangeCase) reset(t *testing.T, name, data string) {
	t.Helper()
	var levels []mockbase.ResetLevel
	for level := range strings.FieldsSeq(data) {
		levels = append(levels, mockbase.ResetLevel(level))
	}
	if err := x.engine.Reset("prj_shop", name, levels); err != nil {
		t.Fatal(err)
	}
}

func (x *exchangeCase) keep(_ *testing.T, name, _ string) {
	if x.kept == nil {
		x.kept = map[string]string{}
	}
	x.kept[name] = x.body
}

func (x *exchangeCase) same(t *testing.T, name, _ string) {
	t.Helper()
	if kept, ok := x.kept[name]; !ok || x.body != kept {
		t.Errorf("the body is %q, and was %q", x.body, kept)
	}
}

func (x *exchangeCase) other(t *testing.T, name, _ string) {
	t.Helper()
	if kept, ok := x.kept[name]; !ok || x.body == kept {
		t.Errorf("the body is %q again", kept)
	}
}

func (x *exchangeCase) contains(t *testing.T, _, data string) {
	t.Helper()
	for line := range strings.Lines(data) {
		if text := strings.TrimSuffix(line, "\n"); !strings.Contains(x.body, text) {
			t.Errorf("the body lacks %q:\n%s", text, x.body)
		}
	}
}

func (x *exchangeCase) lacks(t *testing.T, _, data string) {
	t.Helper()
	for line := range strings.Lines(data) {
		if text := strings.TrimSuffix(line, "\n"); strings.Contains(x.body, text) {
			t.Errorf("the body holds %q:\n%s", text, x.body)
		}
	}
}

// wasRecorded looks at the last exchange. Exchanges have no JSON form of their own; the names of their fields serve here.
func (x *exchangeCase) wasRecorded(t *testing.T, _, data string) {
	t.Helper()
	var exchange any = x.recorded.last(t, x.sent)
	last, err := json.Marshal(exchange)
	if err != nil {
		t.Fatal(err)
	}
	testkit.HoldsJSON(t, data, last)
}

// lasting are the functions of goroutines that outlive requests: those of servers, of connections that wait for a request on
// either side, and of what makes mocks of what it hears.
var lasting = []string{
	"engine/parking.(*Lot).accept", "engine/parking.(*Lot).Serve", "engine/parking.(*Lot).idle", "bufio.(*Reader).Peek",
	"net/http.(*persistConn)", "net/http.(*http2ClientConn)", "engine/tape.(*Recorder).run", "engine_test.(*upstream)",
}

// leavesNoRequest waits until no goroutine serves a request of a case any more, while its server goes on.
func leavesNoRequest(t *testing.T, name string) {
	t.Helper()
	label := strconv.Quote("case") + ":" + strconv.Quote(name)
	var left []string
	for range 3_000 {
		left = left[:0]
		var all bytes.Buffer
		if err := pprof.Lookup("goroutine").WriteTo(&all, 1); err != nil {
			t.Fatal(err)
		}
		for stack := range strings.SplitSeq(all.String(), "\n\n") {
			outlives := func(function string) bool { return strings.Contains(stack, function) }
			if strings.Contains(stack, label) && !slices.ContainsFunc(lasting, outlives) {
				left = append(left, stack)
			}
		}
		if len(left) == 0 {
			return
		}
		<-time.After(10 * time.Millisecond)
	}
	t.Errorf("%d goroutines are left of the requests:\n\n%s", len(left), strings.Join(left, "\n\n"))
}
