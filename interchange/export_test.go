package interchange_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/interchange"
	"github.com/mockbase/mockbase/internal/testkit"
)

// examples are the definitions of the repository, by their file.
func examples(tb testing.TB) map[string]*mockbase.Definition {
	tb.Helper()
	files, err := filepath.Glob("../examples/features/*.yaml")
	if err != nil || len(files) == 0 {
		tb.Fatalf("no examples: %v", err)
	}
	all := map[string]*mockbase.Definition{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			tb.Fatal(err)
		}
		if all[file], err = mockbase.DecodeDefinition(text, mockbase.FormatYAML); err != nil {
			tb.Fatalf("%s: %v", file, err)
		}
	}
	return all
}

// M-163: what becomes of a project with a bit of everything, and what is told of the rest.
func TestM163_a_sample_in_each_format(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/export/shop.yaml")
	if err != nil {
		t.Fatal(err)
	}
	s := snapshotOf(t, decoded(string(text)))
	for _, format := range interchange.ExportFormats() {
		made := exported(t, s, interchange.ExportOptions{Format: format, BaseURL: "http://127.0.0.1:8080/m/shop"})
		var told bytes.Buffer
		for _, l := range made.Losses {
			fmt.Fprintf(&told, "%s %s [%s] %s\n", l.Mock, l.Pointer, l.Code, l.Detail)
		}
		testkit.Golden(t, "testdata/export/shop."+string(format)+".golden", append(made.Text, told.Bytes()...))
	}
}

// M-163: a secret variable is in no export, and what reads it is told of.
func TestM163_secrets_are_not_written_down(t *testing.T) {
	t.Parallel()
	s := snapshotOf(t, decoded(`{"variables": {"key": "s3cret"}, "mocks": [{"request": "GET /a", "response": {"template": true, "text": "{{ var.key }}"}}]}`))
	s.Project.VariableNotes = map[string]mockbase.VariableNote{"key": {Version: 1, Secret: true}}
	made := exported(t, s, interchange.ExportOptions{Format: interchange.FormatWireMock})
	if strings.Contains(string(made.Text), "s3cret") || len(made.Losses) != 1 || !strings.Contains(made.Losses[0].Detail, "the variable is secret") {
		t.Errorf("%v\n%s", made.Losses, made.Text)
	}
}

// M-163: 2,000 mocks of which many may meet are written in a moment.
func TestM163_many_mocks_are_exported_in_bounded_time(t *testing.T) {
	t.Parallel()
	d := &mockbase.Definition{}
	for i := range 1000 {
		for _, path := range []string{"/a/%d/x", "/b/{id}/%d"} {
			m, err := mockbase.DecodeMock(fmt.Appendf(nil, `{"name": "m-%d-%d", "request": "GET `+path+`", "response": {"text": "x"}}`, i, len(path), i), mockbase.FormatJSON)
			if err != nil {
				t.Fatal(err)
			}
			d.Mocks = append(d.Mocks, m)
		}
	}
	s := snapshotOf(t, d)
	for _, format := range interchange.ExportFormats() {
		if made := exported(t, s, interchange.ExportOptions{Format: format}); len(made.Losses) > 0 {
			t.Errorf("%s: %v", format, made.Losses[:1])
		}
	}
}

// M-78: a destination that is all that a request says is the host, whatever the matcher; a bucket joined to a text is put in.
func TestM78_hosts_of_Hoverfly_and_buckets_of_Mockoon(t *testing.T) {
	t.Parallel()
	r := importOf(t, `{"data":{"pairs":[
		{"request":{"destination":[{"matcher":"glob","value":"*.x.test"}]},"response":{"status":200,"body":"below"}},
		{"request":{"destination":[{"matcher":"regex","value":"^y"},{"matcher":"exact","value":"y.test"}]},"response":{"status":200,"body":"y"}}
	]},"meta":{"schemaVersion":"v5"}}`, interchange.Options{})
	d, err := r.Definition()
	if err != nil || len(d.Mocks) != 2 || d.Mocks[0].Disabled || d.Mocks[1].Disabled {
		t.Fatalf("%v\n%s", err, r.JSON())
	}
	h := plane(t, snapshotOf(t, d))
	for host, want := range map[string]string{"a.x.test": "below", "a.x.test:80": "below", "y.test": "y", "yy.test": noMatch, "x.test": noMatch} {
		if got := answerOf(h, "GET /m/a/any HTTP/1.1\r\nHost: "+host+"\r\n\r\n"); !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %s", host, got, want)
		}
	}
	r = importOf(t, `{"uuid":"1","lastMigration":33,"name":"n","data":[{"id":"b","name":"B","value":"{{queryParam 'q'}}"}],"routes":[
		{"uuid":"2","method":"get","endpoint":"a","type":"http","responses":[{"body":"{{concat (dataRaw 'b') '-end'}}","statusCode":200,"headers":[],"default":true,"rules":[]}]}]}`, interchange.Options{})
	if d, err = r.Definition(); err != nil {
		t.Fatal(err)
	}
	if got := answerOf(plane(t, snapshotOf(t, d)), "GET /m/a/a?q=7 HTTP/1.1\r\nHost: x\r\n\r\n"); !strings.HasSuffix(got, "|7-end") {
		t.Error(got)
	}
}
