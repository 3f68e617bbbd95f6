package main

import (
	"cmp"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/mockbase/mockbase"
)

// summary is what a start says about the server (rule C-26).
type summary struct {
	instance string
	// dataDir is "" when nothing is kept.
	dataDir string
	// folders are the paths of file mode.
	folders []string
	// mocks are the addresses where mocks answer, page that of the first page, "" without one.
	mocks []string
	page  string
	// own are the addresses of projects that have their own, each with the project.
	own []string
	api string
	// limits are the shield's, as "engine 120 per 60 s".
	limits []string
	store  string
	// projects and mocks that are served.
	projects, mockCount int
	// example is the path of a mock to call, or "".
	example string
	// setupCode is "" when somebody has an account.
	setupCode string
	container bool
	port      int
}

// text is the summary for people.
func (s *summary) text() string {
	var b strings.Builder
	line := func(name, value string) { fmt.Fprintf(&b, "  %-8s %s\n", name, value) }
	fmt.Fprintf(&b, "MockBase %s%s\n", version, prefixed(" · ", s.instance))
	if s.dataDir != "" {
		line("data", s.dataDir)
	} else {
		line("data", "in memory: everything is lost when the server ends")
	}
	for i, folder := range s.folders {
		line(first(i, "files"), folder)
	}
	for i, address := range s.mocks {
		line(first(i, "mocks"), address+"/m/{project}/…")
	}
	for i, own := range s.own {
		line(first(i, "own"), own)
	}
	if s.page != "" {
		line("page", s.page+"/")
	}
	line("api", s.api+"/api/v1")
	line("shield", strings.Join(s.limits, ", ")+"; "+s.store)
	line("serving", count(s.mockCount, "mock")+" in "+count(s.projects, "project"))
	if s.container {
		b.WriteString(s.containerHints())
	}
	b.WriteString(s.setup())
	b.WriteString(s.call())
	return b.String()
}

// facts is the summary for programs. The set-up code is the one secret that is ever printed.
func (s *summary) facts() []slog.Attr {
	facts := []slog.Attr{
		slog.String("version", version),
		slog.String("data_dir", s.dataDir),
		slog.Any("mocks", s.mocks),
		slog.String("page", s.page),
		slog.String("api", s.api+"/api/v1"),
		slog.Any("limits", s.limits),
		slog.String("limit_store", s.store),
		slog.Int("project_count", s.projects),
		slog.Int("mock_count", s.mockCount),
	}
	if len(s.folders) > 0 {
		facts = append(facts, slog.Any("files", s.folders))
	}
	if len(s.own) > 0 {
		facts = append(facts, slog.Any("own", s.own))
	}
	if s.instance != "" {
		facts = append(facts, slog.String("instance", s.instance))
	}
	if s.example != "" {
		facts = append(facts, slog.String("example", s.mocks[0]+s.example))
	}
	if s.setupCode != "" {
		facts = append(facts, slog.String("setup_url", s.api+"/setup"), slog.String("setup_code", s.setupCode))
	}
	return facts
}

// setup tells how to make the first account.
func (s *summary) setup() string {
	if s.setupCode == "" {
		return ""
	}
	text := fmt.Sprintf(`
No administrator yet. Open this page and choose a password:
    %s/setup#code=%s
`, s.api, s.setupCode)
	if s.dataDir != "" {
		text += "The code is also in " + filepath.Join(s.dataDir, setupCodeName) + ". It changes at every start until it is used.\n"
	}
	return text + "In scripts: set MOCKBASE_ADMIN_EMAIL and MOCKBASE_ADMIN_PASSWORD_FILE instead.\n"
}

// call is a command that works as it stands.
func (s *summary) call() string {
	if len(s.mocks) == 0 {
		return ""
	}
	if s.example == "" {
		return fmt.Sprintf("\nNo mock yet. Call one all the same, and see why nothing answers:\n    curl -i %s/m/shop/hello\n", s.mocks[0])
	}
	return fmt.Sprintf("\nCall a mock:\n    curl -i %s%s\n", s.mocks[0], s.example)
}

// containerHints tell how the server is reached from elsewhere (rule C-61).
func (s *summary) containerHints() string {
	return fmt.Sprintf(`
In a container the port must be published: docker run -p %d:%d …
Other containers call the service's name, programs on the host call localhost. A container calls back to the host at
host.docker.internal (on Linux with --add-host=host.docker.internal:host-gateway).
`, s.port, s.port)
}

func prefixed(prefix, text string) string {
	if text == "" {
		return ""
	}
	return prefix + text
}

// first is the name in front of the first of several lines.
func first(i int, name string) string {
	if i > 0 {
		return ""
	}
	return name
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	if stem, ends := strings.CutSuffix(what, "y"); ends {
		what = stem + "ie"
	}
	return strconv.Itoa(n) + " " + what + "s"
}

// limitText writes a limit of the shield for people. Those that are off by default are only told when they are on, and
// that of sign-in when it is off.
func limitText(p *mockbase.ShieldPolicy) string {
	off := p.Limit == 0 || p.Mode == mockbase.ShieldDisabled
	window, err := mockbase.ParseDuration(p.Window)
	told := strings.HasPrefix(p.Name, "engine") || strings.HasPrefix(p.Name, "management")
	switch {
	case off && (told || p.Name == "login"):
		return p.Name + " disabled"
	case off, err != nil, p.Name == "login" && p.Mode == mockbase.ShieldEnforce:
		return ""
	}
	text := fmt.Sprintf("%s %d per %d s", p.Name, p.Limit, window/time.Second)
	if p.Mode == mockbase.ShieldDryRun {
		text += " in dry run"
	}
	return text
}

// reachable lists the URLs under which a listener is reached: its address, or every one of this machine's when it listens
// on all (rule C-26).
func reachable(scheme string, l net.Addr, interfaces func() ([]net.Addr, error)) []string {
	bound, err := netip.ParseAddrPort(l.String())
	if err != nil {
		return []string{scheme + "://" + l.String()}
	}
	port := strconv.Itoa(int(bound.Port()))
	if !bound.Addr().Unmap().IsUnspecified() {
		return []string{scheme + "://" + net.JoinHostPort(bound.Addr().Unmap().String(), port)}
	}
	urls := []string{scheme + "://127.0.0.1:" + port}
	all, err := interfaces()
	if err != nil {
		return urls
	}
	for _, a := range all {
		prefix, err := netip.ParsePrefix(a.String())
		if err != nil || prefix.Addr().IsLoopback() || prefix.Addr().IsLinkLocalUnicast() || bound.Addr().Is4() && !prefix.Addr().Is4() {
			continue
		}
		urls = append(urls, scheme+"://"+net.JoinHostPort(prefix.Addr().String(), port))
	}
	return urls
}

// inContainer tells whether this process runs in a container, as far as one can tell from inside.
func inContainer(getenv func(string) string) bool {
	for _, mark := range []string{"/.dockerenv", "/run/.containerenv"} {
		if _, err := os.Stat(mark); err == nil {
			return true
		}
	}
	return cmp.Or(getenv("KUBERNETES_SERVICE_HOST"), getenv("container")) != ""
}
