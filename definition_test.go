package mockbase_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/internal/testkit"
)

func TestEnvironmentNamesAreText(t *testing.T) {
	t.Parallel()
	d := decodeDefinition(t, "variables: { a: '${HOME}', b: \"$$\" }\nmocks: []\n")
	if got := string(d.Config.Source["variables"]); got != `{"a":"${HOME}","b":"$$"}` {
		t.Errorf("variables are %s", got)
	}
}

func TestASectionThatIsNotThereIsNotInTheSource(t *testing.T) {
	t.Parallel()
	d := decodeDefinition(t, "mocks: []\n")
	if d.Config.Source != nil {
		t.Errorf("source is %v", d.Config.Source)
	}
	if diff := cmp.Diff(mockbase.Config{}, d.Config); diff != "" {
		t.Error(diff)
	}
}

func TestMergeKeysAndAliasesServeMocks(t *testing.T) {
	t.Parallel()
	d := decodeDefinition(t, `
x-common: &common { headers: { X-A: 1 }, delay: 5 }
mocks:
  - request: GET /a
    response: { <<: *common, text: a }
  - request: GET /b
    response: { <<: *common, delay: 6 }
`)
	want := []string{
		`{"name":"get-a","request":"GET /a","response":{"headers":{"X-A":1},"delay":5,"text":"a"}}`,
		`{"name":"get-b","request":"GET /b","response":{"headers":{"X-A":1},"delay":6}}`,
	}
	for i, m := range d.Mocks {
		if got := string(m.Document); got != want[i] {
			t.Errorf("got  %s\nwant %s", got, want[i])
		}
	}
}

func TestR4_a_state_that_only_the_API_sets_is_valid(t *testing.T) {
	t.Parallel()
	d := decodeDefinition(t, `
mocks:
  - { request: GET /a, scenario: door, state: [open, ajar], response: {} }
`)
	if diff := cmp.Diff([]string{"open", "ajar"}, d.Mocks[0].States); diff != "" {
		t.Error(diff)
	}
}

func TestMocksInADefinitionHaveNoIds(t *testing.T) {
	t.Parallel()
	_, err := mockbase.DecodeDefinition([]byte(`{"mocks":[{"id":"mck_1","request":"GET /a","response":{}}]}`), mockbase.FormatJSON)
	if code := fieldsOf(t, err)[0].Code; code != mockbase.FieldUnknownKey {
		t.Errorf("code is %s", code)
	}
}

// thousandMocks writes a definition of 1,000 mocks as people write them.
func thousandMocks() []byte {
	var b strings.Builder
	b.WriteString(`{"mocks":[`)
	for i := range 1000 {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"name":"mock-%d","tags":["load"],"request":{"method":"GET","path":"/api/v1/users/{id:\\d+}/orders/%d",`+
			`"query":{"page":{"matches":"[0-9]+"}},"headers":{"Accept":{"contains":"json"}}},`+
			`"response":{"status":200,"headers":{"Content-Type":"application/json","X-Request-Id":"abc"},`+
			`"json":{"id":%d,"name":"Ada Lovelace","balance":12.50,"tags":["a","b","c"],"address":{"street":"Main Street 1","city":"London"}}}}`, i, i, i)
	}
	b.WriteString(`]}`)
	return []byte(b.String())
}

func TestAThousandMocksDecodeFastEnoughForAStart(t *testing.T) {
	t.Parallel()
	src := thousandMocks()
	fastest := testkit.Fastest(5, func() {
		if _, err := mockbase.DecodeDefinition(src, mockbase.FormatJSON); err != nil {
			t.Fatal(err)
		}
	})
	// The bound is that of a slow machine under the race detector; the benchmark measures.
	if fastest > 5*time.Second {
		t.Errorf("1,000 mocks take %s", fastest)
	}
}

func BenchmarkDecodeDefinition1000Mocks(b *testing.B) {
	src := thousandMocks()
	b.SetBytes(int64(len(src)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := mockbase.DecodeDefinition(src, mockbase.FormatJSON); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDecodeMock1000Times(b *testing.B) {
	d, err := mockbase.DecodeDefinition(thousandMocks(), mockbase.FormatJSON)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		for _, m := range d.Mocks {
			if _, err := mockbase.DecodeMock(m.Document, mockbase.FormatJSON); err != nil {
				b.Fatal(err)
			}
		}
	}
}

func BenchmarkDecodeYAML1000Mocks(b *testing.B) {
	d, err := mockbase.DecodeDefinition(thousandMocks(), mockbase.FormatJSON)
	if err != nil {
		b.Fatal(err)
	}
	src := encode(b, d, mockbase.FormatYAML)
	b.SetBytes(int64(len(src)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := mockbase.DecodeDefinition(src, mockbase.FormatYAML); err != nil {
			b.Fatal(err)
		}
	}
}

func FuzzDecodeDefinition(f *testing.F) {
	for _, file := range slices.Concat(definitionFiles(f, "valid"), definitionFiles(f, "invalid")) {
		f.Add(readFile(f, file), formatOf(file) == mockbase.FormatYAML)
	}
	f.Fuzz(func(t *testing.T, src []byte, isYAML bool) {
		format := mockbase.FormatJSON
		if isYAML {
			format = mockbase.FormatYAML
		}
		d, err := mockbase.DecodeDefinition(src, format)
		if err != nil {
			checkFaults(t, src, err)
			return
		}
		for _, f := range []mockbase.Format{mockbase.FormatJSON, mockbase.FormatYAML} {
			out := encode(t, d, f)
			again, err := mockbase.DecodeDefinition(out, f)
			if err != nil {
				t.Fatalf("%q: %s is refused: %v\n%s", src, f, err, out)
			}
			if diff := cmp.Diff(withoutPlaces(d), withoutPlaces(again)); diff != "" {
				t.Fatalf("%q: %s differs\n%s\n%s", src, f, diff, out)
			}
		}
	})
}

// W27 and W30: what becomes of violations may be called report as well, which is the same as warn.
func TestW30_report_is_another_word_for_warn(t *testing.T) {
	t.Parallel()
	d, err := mockbase.DecodeDefinition([]byte("documents: [{ name: a, url: 'http://a.test/', requests: report, responses: report }]\n"), mockbase.FormatYAML)
	if err != nil {
		t.Fatal(err)
	}
	if got := d.Config.Documents[0]; got.Requests != "warn" || got.Responses != "warn" {
		t.Errorf("requests %q, responses %q", got.Requests, got.Responses)
	}
}
