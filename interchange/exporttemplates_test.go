package interchange_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/mockbase/mockbase/interchange"
)

// expressions use every function of templates. Those with a tilde give another text each time.
func expressions() []string {
	return []string{
		`path.id`, `query.q`, `index query "q"`, `cookie.c`, `header "X-Q"`, `header "x-q"`, `queryAll "q" | join ","`, `headerAll "X-Q" | join "+"`, `formAll "f" | join ","`, `form.f`, `length (queryAll "q")`,
		`body.a.b`, `body.n`, `body.list | json`, `body`, `bodyText`, `jsonPath "$.a.b"`, `jsonPath "$.none" "d"`, `jsonPath "$.list[1]"`, `jsonPath "$.n"`, `xpath "//q"`, `(part "p").text`,
		`request.method`, `request.path`, `request.rawPath`, `request.rawQuery`, `request.url`, `request.host`, `request.port`, `request.scheme`, `segment 0`, `request.segment 0`, `request.matrix.x`, `request.clientIp`, `~request.id`,
		`var.v`, `var.n`, `var.none`, `state`, `call`, `session`, `~seed`, `limit.remaining`,
		`~now`, `~now "+24h"`, `~now | date "2006-01-02" "UTC"`, `~now | date "unix" "UTC"`, `~now | date "unixMs" "UTC"`, `~now | date "http" "UTC"`, `~now "-1h30m" | date "15:04" "Europe/Berlin"`, `"2026-01-02T03:04:05Z" | date "2006-01-02" "UTC"`,
		`~uuid`, `~ulid`, `~randomInt 1 6`, `~randomFloat 0 1`, `~randomString 8`, `~pick "a" "b"`, `~faker "name"`, `~faker "email"`,
		`query.n | int`, `query.n | number`, `query.b | bool`, `body.n | string`, `body.a | json`, `"a\"b" | jsonEscape`, `"<a>" | escapeHtml`, `query.q | urlEncode`, `"a%20b" | urlDecode`, `"ab" | base64`, `"YWI=" | base64Decode`, `"a" | sha256`, `"a" | hmacSha256 "k"`,
		`"a" | upper`, `query.q | upper`, `"A" | lower`, `" a " | trim`, `query.q | replace "x" "y"`, `query.q | split "y" | join "-"`, `substr 0 1 query.q`, `query.q | substr 0 1`, `query.q | regexFind "[a-z]+"`,
		`add 1 2`, `sub query.n 1`, `mul 3 1.10`, `div 10 4`, `mod 7 3`, `round 1 2.25`, `query.none | default "d"`, `query.q | default "d"`, `ternary "a" "b" true`, `first (queryAll "q")`, `last (queryAll "q")`, `list 1 2 | join ","`, `(dict "a" 1).a`,
		`if query.q`, `eq query.q "xyz"`, `ne query.q "xyz"`, `and query.q query.n`, `or query.none query.q`, `not query.none`, `printf "%s-%s" query.q query.n`, `len query.q`, `slice query.q 0 1`, `gt (query.n | int) 3`, `lt 1 2`,
	}
}

// actionOf is an expression as it stands in a template.
func actionOf(expression string) string {
	if condition, isIf := strings.CutPrefix(expression, "if "); isIf {
		return "{{ if " + condition + " }}yes{{ else }}no{{ end }}"
	}
	return "{{ " + strings.TrimPrefix(expression, "~") + " }}"
}

// M-163: every function of templates means the same in WireMock when it comes back, or its loss is told.
func TestM163_WireMock_gets_every_function_or_its_loss_is_told(t *testing.T) {
	t.Parallel()
	const body = `{"a":{"b":"c"},"n":12.50,"list":[1,"two",null]}`
	target := "/x/7;x=1?q=xyz&q=second&n=4&b=true"
	raw := rawOf("POST", target, "Content-Type: application/json\r\nX-Q: one\r\nX-Q: two\r\nCookie: c=crumb\r\n", body)
	kept := 0
	for _, expression := range expressions() {
		text := actionOf(expression)
		for name, response := range map[string]string{
			"text": `{"template":true,"text":` + strconv.Quote("<"+text+">") + `}`,
			"json": `{"template":true,"json":{"v":` + strconv.Quote(text) + `,"w":` + strconv.Quote("-"+text+"-") + `}}`,
			"head": `{"template":true,"headers":{"Location":` + strconv.Quote("<"+text+">") + `},"status":201}`,
		} {
			d := decoded(`{"version":1,"variables":{"v":"va\"l'ue","n":5},"mocks":[{"name":"one","request":{"method":"POST","path":"/x/{id}"},"response":` + response + `}]}`)
			if d == nil {
				t.Fatalf("%s is no mock", response)
			}
			s := snapshotOf(t, d)
			first := plane(t, s)
			if first == nil {
				t.Fatalf("%s is refused", response)
			}
			file := exported(t, s, interchange.ExportOptions{Format: interchange.FormatWireMock})
			back := importOf(t, string(file.Text), interchange.Options{Format: interchange.FormatWireMock})
			again, err := back.Definition()
			if err != nil {
				t.Fatal(err)
			}
			want, got := answerOf(first, raw), answerOf(plane(t, snapshotOf(t, again)), raw)
			if strings.HasPrefix(expression, "~") {
				want, got = want[:len("200")], got[:len("200")]
			}
			whole := len(file.Losses)+len(back.Warnings) == 0

			if whole {
				kept++
			}
			// What is not there is null where a value of JSON is one expression, and nothing elsewhere.
			absent := strings.Contains(want, `"v":interface {}(nil)`) && strings.Contains(got, `"v":""`)
			if whole && want != got && !absent {
				t.Errorf("%s as %s:\n%s, wanted\n%s\n%s", text, name, got, want, file.Text)
			}
		}
	}
	t.Logf("%d of %d are kept", kept, 3*len(expressions()))
}
