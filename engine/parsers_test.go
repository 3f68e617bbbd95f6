package engine_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mockbase/mockbase/engine"
)

// Rules E1 to E5.
func TestE1_cookies_are_pairs_divided_by_semicolons(t *testing.T) {
	t.Parallel()
	for lines, want := range map[string]string{
		"a=1; A=2":        "a=1|A=2",
		"a=1\nb=2":        "a=1|b=2",
		`a="q"; b="; c="`: `a=q|b="|c="`,
		"junk; s=1":       "=junk|s=1",
		" a = 1 ;;\t":     "a = 1",
		"s=1; s=2":        "s=1|s=2",
		"t=a%20b=c,d":     "t=a%20b=c,d",
		"":                "",
	} {
		names, values := engine.ParseCookies(strings.Split(lines, "\n"))
		var got []string
		for i := range names {
			got = append(got, names[i]+"="+values[i])
		}
		if strings.Join(got, "|") != want {
			t.Errorf("%q: %q, want %q", lines, got, want)
		}
	}
}

func FuzzParseCookies(f *testing.F) {
	f.Add("a=1; A=2")
	f.Add(`a="q";;=;"`)
	f.Fuzz(func(t *testing.T, line string) {
		names, values := engine.ParseCookies([]string{line})
		size := 0
		for i := range names {
			if strings.ContainsAny(names[i], ";=") || strings.Contains(values[i], ";") {
				t.Errorf("%q: cookie %q=%q", line, names[i], values[i])
			}
			size += len(names[i]) + len(values[i])
		}
		if size > len(line) {
			t.Errorf("%q: more than was sent", line)
		}
		// Divided in two lines at a semicolon, it is the same list.
		if first, second, ok := strings.Cut(line, ";"); ok {
			others, _ := engine.ParseCookies([]string{first, second})
			if !slices.Equal(names, others) {
				t.Errorf("%q: %q and %q", line, names, others)
			}
		}
	})
}

func TestB16_matrix_parameters_are_cut_out(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		"/cars;color=red":           "/cars color=red",
		"/a;x=1;;y/b;z=%3B+":        "/a/b x=1 y= z=;+",
		"/a%3Bx=1":                  "/a%3Bx=1",
		"/;a=%zz/":                  "// a=%zz",
		"/plain/":                   "/plain/",
		"/a;b=c=d":                  "/a b=c=d",
		"/a;%E9=1":                  "/a \xe9=1",
		"/cars;color=red;color=%62": "/cars color=red color=b",
	} {
		plain, names, values := engine.CutMatrix(raw)
		got := []string{plain}
		for i := range names {
			got = append(got, names[i]+"="+values[i])
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %q, want %q", raw, got, want)
		}
	}
}

func TestB13_parameters_take_the_shortest_text(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ pattern, path, want string }{
		{"/f/{n}.{ext}", "/f/a.b.json", "n=a ext=b.json"},
		{"/u/{id}:activate", "/u/7:activate", "id=7"},
		{"/x/{id}", "/x/a%2Fb", "id=a/b"},
		{"/files/{rest...}", "/files/a/b%20c", "rest=a/b c"},
		{"/files/{rest...}", "/files", "rest="},
		{"/{a...}/end/{b}", "/1/2/end/3", "a=1/2 b=3"},
		{"/*/{x}/**", "/1/2/3", "x=2"},
		{"/u/{id:\\d+}-{s}", "/u/12-a-b", "id=12 s=a-b"},
		{"/u/{id}", "/u/7/", "id=7"},
		{"/u/{id}", "/u/%FF", "id=\xff"},
		{"/u/{id}", "/v/7", ""},
	} {
		got, err := engine.BindPath(c.pattern, c.path)
		if err != nil || strings.Join(got, " ") != c.want {
			t.Errorf("%s on %s: %q, %v, want %q", c.pattern, c.path, got, err, c.want)
		}
	}
}

func FuzzBindPath(f *testing.F) {
	f.Add("/f/{n}.{ext}", "/f/a.b.json")
	f.Add("/{a...}/end/{b:\\d+}", "/1/2/end/3")
	f.Add("/*/**", "//")
	f.Fuzz(func(t *testing.T, pattern, path string) {
		if !strings.HasPrefix(path, "/") {
			return
		}
		bound, err := engine.BindPath(pattern, path)
		if err != nil {
			return
		}
		for _, b := range bound {
			if _, value, _ := strings.Cut(b, "="); len(value) > len(path) {
				t.Errorf("%s on %s: %q", pattern, path, b)
			}
		}
	})
}

func TestD7_basic_credentials(t *testing.T) {
	t.Parallel()
	for coded, want := range map[string]string{
		"dTphOmI6Yw==": "u a:b:c true", "dTphOmI6Yw": "u a:b:c true", "Og==": "  true", "dQ==": "u  false", "?": "  false",
	} {
		username, password, ok := engine.ParseBasic(coded)
		if got := fmt.Sprint(username, " ", password, " ", ok); got != want {
			t.Errorf("%s: %q, want %q", coded, got, want)
		}
	}
}

// zeros is a body without an end.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

func TestN9_an_upload_that_nobody_reads_is_answered_and_the_connection_goes_on(t *testing.T) {
	t.Parallel()
	e := newEngine(t, engine.Options{MaxBody: 1 << 10})
	publishDefinition(t, e, "mocks: [{ request: POST /up, readBody: false, response: { text: taken } }]")
	var d net.Dialer
	conn, err := d.DialContext(t.Context(), "tcp", serveEngine(t, e))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	reader := bufio.NewReader(conn)
	const size = 64 << 20
	for range 2 {
		if _, err := fmt.Fprintf(conn, "POST /m/shop/up HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n", size); err != nil {
			t.Fatal(err)
		}
		if _, err := io.CopyN(conn, zeros{}, size); err != nil {
			t.Fatal(err)
		}
		answer, err := http.ReadResponse(reader, nil)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(answer.Body)
		answer.Body.Close()
		if err != nil || answer.StatusCode != http.StatusOK || string(text) != "taken" {
			t.Errorf("%d %q, %v", answer.StatusCode, text, err)
		}
	}
}

func TestM6_a_miss_among_mocks_with_costly_conditions_is_answered(t *testing.T) {
	t.Parallel()
	var definition strings.Builder
	definition.WriteString("mocks:\n")
	for i := range 2_000 {
		fmt.Fprintf(&definition, "  - { request: { method: POST, path: /p/%d, body: { json: { a: %d } }, cookies: { c: %d } }, response: { text: x } }\n", i, i, i)
	}
	e := newEngine(t, engine.Options{})
	publishDefinition(t, e, definition.String())
	address := serveEngine(t, e)
	body := `{"a":"` + strings.Repeat("x", 100_000) + `"}`
	if status := sendHostile(t, address, hostileRequest{"POST /m/shop/p/none", body, 404}); status != 404 {
		t.Errorf("status %d", status)
	}
}
