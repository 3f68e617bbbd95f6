package main

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"os"
	"strconv"
)

// baseURL is where this server is reached: the public URL where one is set, else the listener's address.
func (s *server) baseURL(l net.Listener) string {
	if s.settings.PublicURL != "" && l == s.administration() {
		return string(s.settings.PublicURL) + string(s.settings.BasePath)
	}
	return s.reachable(l)[0]
}

// reachable lists the addresses that a listener is reached at, with the base path.
func (s *server) reachable(l net.Listener) []string {
	urls := reachable(s.scheme(), l.Addr(), net.InterfaceAddrs)
	for i := range urls {
		urls[i] += string(s.settings.BasePath)
	}
	return urls
}

// announce says that the server is ready, once: everything answers by now (rules C-26 and AA42).
func (s *server) announce() {
	sum := s.summary()
	s.log.say(sum.text()+"\n", "mockbase start", sum.facts()...)
	url := s.baseURL(s.listen[0])
	s.log.say("mockbase ready url="+url+"\n", "mockbase ready url="+url, slog.String("url", url))
	if s.settings.PrintURL {
		printf(s.Out, "%s\n", url)
	}
}

func (s *server) summary() *summary {
	sum := &summary{
		instance: string(s.settings.InstanceName), api: s.baseURL(s.administration()), limits: s.limitTexts(), store: s.shield.where,
		example: s.example(), container: inContainer(s.settingsEnv), port: s.listen[0].Addr().(*net.TCPAddr).Port, //nolint:errcheck,forcetypeassert // the listener is one of TCP
	}
	if !s.ephemeral() {
		sum.dataDir = s.settings.DataDir
	}
	if s.files != nil {
		sum.folders = s.files.options.Paths
	}
	if s.settings.PublicURL != "" && s.settings.AdminAddr == "" {
		sum.mocks = []string{string(s.settings.PublicURL) + string(s.settings.BasePath)}
	}
	for _, url := range s.reachable(s.listen[0]) {
		if len(sum.mocks) == 0 || sum.mocks[0] != url {
			sum.mocks = append(sum.mocks, url)
		}
	}
	if !s.settings.NoUI {
		sum.page = sum.api
	}
	if s.setup != nil {
		sum.setupCode = s.setup.String()
	}
	for _, own := range s.owned {
		sum.own = append(sum.own, reachable(s.scheme(), own.Addr(), net.InterfaceAddrs)[0]+"/  "+own.slug)
	}
	for _, own := range s.settings.ProjectHost {
		sum.own = append(sum.own, s.scheme()+"://"+own.Host+s.portOf(s.listen[0])+"/  "+own.Slug)
	}
	sum.projects, sum.mockCount = s.counts()
	return sum
}

func (s *server) settingsEnv(name string) string {
	value, _ := s.lookup(name)
	return value
}

// readyDocument is what the ready file holds (rule C-24).
type readyDocument struct {
	PID      int                     `json:"pid"`
	Version  string                  `json:"version"`
	URL      string                  `json:"url"`
	AdminURL string                  `json:"adminUrl"`
	Projects map[string]readyProject `json:"projects"`
	// Token is for all projects that are loaded, and gone with the process; a server that keeps accounts has none.
	Token string `json:"token,omitempty"`
}

type readyProject struct {
	URL string `json:"url"`
}

// writeFiles writes the files that tell others where the server is. It is the last step of the start. The port comes last:
// who waits for it finds the ready file.
func (s *server) writeFiles() error {
	s.state.start()
	if path := s.settings.ReadyFile; path != "" {
		text, err := s.readyText()
		if err != nil {
			return err
		}
		if err := s.announceIn(path, text); err != nil {
			return err
		}
	}
	if path := s.settings.PortFile; path != "" {
		port := strconv.Itoa(s.listen[0].Addr().(*net.TCPAddr).Port) //nolint:errcheck,forcetypeassert // the listener is one of TCP
		return s.announceIn(path, []byte(port+"\n"))
	}
	return nil
}

// readyText is what the ready file holds.
func (s *server) readyText() ([]byte, error) {
	document := readyDocument{
		PID: os.Getpid(), Version: version, URL: s.baseURL(s.listen[0]), AdminURL: s.baseURL(s.administration()), Projects: map[string]readyProject{},
	}
	for _, p := range s.catalog.Projects() {
		document.Projects[p.Project.Slug] = readyProject{URL: s.projectURL(p.Project.Slug)}
	}
	document.Token = s.readyToken()
	text, err := json.MarshalIndent(document, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("write ready file: %w", err)
	}
	return append(text, '\n'), nil
}

// announceIn writes a file that is removed at the end.
func (s *server) announceIn(path string, text []byte) error {
	if err := replaceFile(path, text); err != nil {
		return &failure{code: exitEnvironment, what: "write " + path, err: err, fix: "name a file in a folder that this user can write"}
	}
	s.ends = append(s.ends, func() error { return removeFile(path) })
	return nil
}
