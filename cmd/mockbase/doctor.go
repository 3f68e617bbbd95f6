package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/mockbase/mockbase/cmd/mockbase/internal/client"
	"github.com/mockbase/mockbase/cmd/mockbase/internal/config"
)

// doctorCommand looks for what keeps a server from working, or this user from reaching it (rule C-40).
type doctorCommand struct {
	config.Settings
	config.Form

	Server    string          `name:"server" group:"target" placeholder:"URL" help:"Server to reach; without it, the one that other commands call."`
	Context   string          `name:"context" group:"target" placeholder:"NAME" help:"Server that login keeps under this name, to reach it."`
	Token     config.Secret   `name:"token" hidden:"" group:"target"`
	TokenFile string          `name:"token-file" hidden:"" group:"target"`
	Timeout   config.Duration `name:"timeout" default:"3s" group:"target" placeholder:"TIME" help:"How long the server may take to answer."`
	CAFile    string          `name:"ca-file" group:"target" placeholder:"FILE" help:"Certificates in PEM that sign the server's, beside those of the system."`
	JSON      bool            `name:"json" help:"Print the findings as JSON."`
}

// finding is what was looked at, and how it is.
type finding struct {
	Check string `json:"check"`
	OK    bool   `json:"ok"`
	Says  string `json:"says"`
	Fix   string `json:"fix,omitempty"`
}

// mostSkew is how far two clocks may differ before tokens and limits seem wrong.
const mostSkew = 30 * time.Second

// Run prints every finding, and ends with 1 when something is wrong. Nothing is changed.
func (c *doctorCommand) Run(p *process) error {
	var found []finding
	for _, f := range c.Check(p.origins) {
		found = append(found, finding{"settings", false, f.String(), f.Fix})
	}
	found = append(found, c.folder(), c.redis(p), c.proxies())
	found = append(found, c.reach(p)...)
	wrong := false
	for _, f := range found {
		wrong = wrong || !f.OK
	}
	if err := c.print(p, found); err != nil {
		return err
	}
	if wrong {
		return fail(exitCheckFailed, "", errSilent)
	}
	return nil
}

// print prints the findings for people, or as a list in the form that was asked for.
func (c *doctorCommand) print(p *process, found []finding) error {
	form := c.Or(config.OutputTable)
	if c.JSON {
		form = c.Or(config.OutputJSON)
	}
	if form == config.OutputTable {
		p.printFindings(found)
		return nil
	}
	items := make([]json.RawMessage, 0, len(found))
	for _, f := range found {
		item, err := json.Marshal(f)
		if err != nil {
			return fmt.Errorf("write finding: %w", err)
		}
		items = append(items, item)
	}
	return p.printList(form, items, nil)
}

func (p *process) printFindings(found []finding) {
	for _, f := range found {
		mark := p.paint(p.Out, green, "✓")
		if !f.OK {
			mark = p.paint(p.Out, red, "✗")
		}
		printf(p.Out, "%s %-10s %s\n", mark, f.Check, printable(oneLine(f.Says)))
		if f.Fix != "" {
			printf(p.Out, "  fix: %s\n", f.Fix)
		}
	}
}

// folder looks at the data directory without making it.
func (c *doctorCommand) folder() finding {
	if c.Ephemeral {
		return finding{"data", true, "nothing is kept", ""}
	}
	at := nearest(c.DataDir)
	probe, err := os.CreateTemp(at, ".mockbase-doctor-*")
	if errors.Is(err, syscall.ENOTDIR) {
		return finding{"data", false, at + " cannot be a folder: a file is in its place", "choose another folder with --data-dir"}
	}
	if err != nil {
		return finding{"data", false, at + " cannot be written: " + ownerText(at), fmt.Sprintf("chown -R %d:%d %s, or choose a folder with --data-dir", os.Getuid(), os.Getgid(), at)}
	}
	if err := errors.Join(probe.Close(), os.Remove(probe.Name())); err != nil {
		return finding{"data", false, err.Error(), ""}
	}
	if kind := networkFileSystem(at); kind != "" {
		return finding{"data", false, at + " lies on a network file system (" + kind + "), where a database can be damaged", "choose a local folder with --data-dir"}
	}
	says := at + " can be written"
	if _, err := os.Stat(filepath.Join(c.DataDir, databaseName)); err != nil {
		says += "; there is no database yet"
	}
	return finding{"data", true, says, ""}
}

// redis asks the limiter's store, when there is one.
func (c *doctorCommand) redis(p *process) finding {
	hosts := c.RedisAddrs
	if c.RedisURL != "" {
		text := c.RedisURL.Reveal()
		if _, rest, ok := strings.Cut(text, "@"); ok {
			text = rest
		}
		if _, rest, ok := strings.Cut(text, "://"); ok {
			text = rest
		}
		host, _, _ := strings.Cut(text, "/")
		if _, _, err := net.SplitHostPort(host); err != nil {
			host = net.JoinHostPort(host, "6379")
		}
		hosts = []string{host}
	}
	if len(hosts) == 0 {
		return finding{"redis", true, "none is set: limits count in each process's memory", ""}
	}
	ctx, cancel := context.WithTimeout(p.ctx, healthcheckPatience)
	defer cancel()
	for _, host := range hosts {
		conn, err := new(net.Dialer).DialContext(ctx, "tcp", host)
		if err != nil {
			return finding{"redis", false, host + ": " + plainReason(err).Error(), "start Redis, or name its address with --redis-url; limits are not enforced until it is reached"}
		}
		_ = conn.Close()
	}
	return finding{"redis", true, strings.Join(hosts, ", ") + " can be reached", ""}
}

// proxies tells whose word counts about the address of a client.
func (c *doctorCommand) proxies() finding {
	if len(c.TrustedProxies) == 0 {
		return finding{"proxies", true, "none is trusted: behind one, every client seems to have its address; --trusted-proxies names it", ""}
	}
	return finding{"proxies", true, count(len(c.TrustedProxies), "network") + " trusted to say who a client is, in " + string(c.ClientAddressHeader), ""}
}

// reach calls the server, or looks whether its port is free where nobody listens.
func (c *doctorCommand) reach(p *process) []finding {
	r, err := p.connect(p.ctx, &config.Target{
		Server: c.Server, ReadyFile: c.ReadyFile, Context: c.Context, Token: c.Token, TokenFile: c.TokenFile, Timeout: c.Timeout, CAFile: c.CAFile,
	})
	if err != nil {
		return []finding{{"server", false, err.Error(), ""}}
	}
	defer r.Close()
	answer, err := r.Do(p.ctx, client.Request{Method: http.MethodGet, Path: "/readyz", Root: true})
	if err != nil {
		explained := r.explain("ask for its state", err)
		f, _ := errors.AsType[*failure](explained)
		fix := "mockbase serve"
		if away, ok := errors.AsType[*client.UnreachableError](err); ok && away.Hint != "" {
			fix = away.Hint
		}
		return []finding{{"server", false, f.Error(), fix}, c.port(p)}
	}
	list := []finding{{"server", true, r.Server() + " (" + r.place + ") answers: " + memberText(answer.Body, "status"), ""}}
	if at, err := http.ParseTime(answer.Header.Get("Date")); err == nil {
		skew := p.clock().Sub(at).Abs()
		one := finding{"clock", skew <= mostSkew, "the server's clock differs by " + skew.Round(time.Second).String(), ""}
		if !one.OK {
			one.Fix = "set both clocks by NTP: tokens and limits depend on them"
		}
		list = append(list, one)
	}
	return list
}

// port tells whether the address of serve can be bound.
func (c *doctorCommand) port(p *process) finding {
	open, err := newBinder(p.origins).bind(p.ctx, []namedAddress{{"addr", c.Addr}})
	if f, ok := errors.AsType[*failure](err); ok {
		return finding{"port", false, f.Error(), f.fix}
	}
	for _, l := range open {
		_ = l.Close()
	}
	return finding{"port", true, string(c.Addr) + " is free", ""}
}
