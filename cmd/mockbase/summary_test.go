package main

import (
	"errors"
	"net"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/internal/testkit"
)

// C-81: what a start says is golden. The rest of it is in the scripts; here is what needs another machine.
func TestC61_a_container_is_told_how_it_is_reached(t *testing.T) {
	t.Parallel()
	s := summary{
		dataDir: "/data", mocks: []string{"http://127.0.0.1:8080", "http://172.17.0.2:8080"}, page: "http://127.0.0.1:8080", api: "http://127.0.0.1:8080",
		limits: []string{"engine 120 per 60 s", "management 60 per 60 s"}, store: "counted in Redis at redis:6379",
		projects: 1, mockCount: 1, example: "/m/demo/hello", setupCode: "7KQ2-M4XD-9TPA", container: true, port: 8080,
	}
	testkit.Golden(t, "testdata/golden/container.txt", []byte(s.text()))
}

type address string

func (address) Network() string  { return "tcp" }
func (a address) String() string { return string(a) }

func TestC26_every_reachable_address_is_listed(t *testing.T) {
	t.Parallel()
	interfaces := func() ([]net.Addr, error) {
		return []net.Addr{address("127.0.0.1/8"), address("::1/128"), address("172.17.0.2/16"), address("fe80::1/64"), address("2001:db8::7/64"), address("odd")}, nil
	}
	for bound, want := range map[string][]string{
		"127.0.0.1:8080":     {"http://127.0.0.1:8080"},
		"[::1]:8080":         {"http://[::1]:8080"},
		"0.0.0.0:8080":       {"http://127.0.0.1:8080", "http://172.17.0.2:8080"},
		"[::]:8080":          {"http://127.0.0.1:8080", "http://172.17.0.2:8080", "http://[2001:db8::7]:8080"},
		"/run/socket":        {"http:///run/socket"},
		"[::ffff:1.2.3.4]:9": {"http://1.2.3.4:9"},
	} {
		if diff := cmp.Diff(want, reachable("http", address(bound), interfaces)); diff != "" {
			t.Errorf("%s: %s", bound, diff)
		}
	}
	blind := func() ([]net.Addr, error) { return nil, errors.New("no interfaces") }
	if got := reachable("https", address("0.0.0.0:1"), blind); len(got) != 1 || got[0] != "https://127.0.0.1:1" {
		t.Errorf("without interfaces: %q", got)
	}
}

func TestInContainer_believes_what_containers_set(t *testing.T) {
	t.Parallel()
	if !inContainer(func(name string) string { return map[string]string{"KUBERNETES_SERVICE_HOST": "10.0.0.1"}[name] }) {
		t.Error("Kubernetes is not seen")
	}
}

// The command that a start prints must work as it stands.
func TestCallable_picks_mocks_that_a_plain_GET_reaches(t *testing.T) {
	t.Parallel()
	for document, want := range map[string]bool{
		`{"request":"GET /a","response":{}}`:                                                   true,
		`{"request":"ANY /a/b.c","response":{"status":204}}`:                                   true,
		`{"request":"POST /a","response":{}}`:                                                  false,
		`{"request":"GET /a/{id}","response":{}}`:                                              false,
		`{"request":"GET /a;b","response":{}}`:                                                 false,
		`{"request":{"path":"/a","query":{"x":"1"}},"response":{}}`:                            false,
		`{"request":{"path":"/a","host":"x.test"},"response":{}}`:                              false,
		`{"request":{"path":"/a","body":{"empty":false}},"response":{}}`:                       false,
		`{"request":"GET /a","enabled":false,"response":{}}`:                                   false,
		`{"request":"GET /a","response":{"status":500}}`:                                       false,
		`{"request":"GET /a","response":{"delay":"1s"}}`:                                       false,
		`{"request":"GET /a","select":"sequence","responses":[{"status":200},{"status":201}]}`: false,
	} {
		m, err := mockbase.DecodeMock([]byte(document), mockbase.FormatJSON)
		if err != nil {
			t.Fatal(document, err)
		}
		if got := callable(m); got != want {
			t.Errorf("%s: %t, want %t", document, got, want)
		}
	}
}

// The reference configuration is what the program prints (make docs writes it).
func TestDocs_reference_configuration(t *testing.T) {
	t.Parallel()
	var out, said strings.Builder
	if code := run(t.Context(), []string{"config", "--example"}, stdio{Out: &out, Err: &said}, nil); code != 0 {
		t.Fatal(said.String())
	}
	testkit.Golden(t, "../../docs/mockbase.yaml", []byte(out.String()))
}

// Every setting's default is one that the program accepts.
func TestDocs_defaults_of_the_reference_are_accepted(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/mockbase.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "#"); ok && !strings.HasPrefix(rest, " ") {
			lines = append(lines, rest)
		}
	}
	path := t.TempDir() + "/all.yaml"
	if err := os.WriteFile(path, []byte(strings.Join(lines, "")), 0o600); err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	if code := run(t.Context(), []string{"config", "check", "--config", path}, stdio{Out: &said, Err: &said}, nil); code != 0 || len(lines) < 50 {
		t.Errorf("%d settings, code %d: %s", len(lines), code, said.String())
	}
}

// The image is built with the Go that the module asks for.
func TestDockerfile_uses_the_module_s_Go(t *testing.T) {
	t.Parallel()
	dockerfile, err := os.ReadFile("../../Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	module, err := os.ReadFile("../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(module), "\ngo ")
	full, _, _ := strings.Cut(rest, "\n")
	minor := full[:strings.LastIndex(full, ".")]
	if !strings.Contains(string(dockerfile), " golang:"+minor+" AS build\n") {
		t.Errorf("go.mod asks for Go %s, the Dockerfile has %q", full, dockerfile[:200])
	}
}
