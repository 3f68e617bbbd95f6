package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"path/filepath"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/cmd/mockbase/internal/backup"
	"github.com/mockbase/mockbase/cmd/mockbase/internal/shield"
	"github.com/mockbase/mockbase/engine"
	"github.com/mockbase/mockbase/engine/journal"
	"github.com/mockbase/mockbase/management"
	"github.com/mockbase/mockbase/management/catalog"
	"github.com/mockbase/mockbase/store"
	"github.com/mockbase/mockbase/web"
)

// What the parts want of each other, held here because their packages do not know each other.
var (
	_ catalog.Store        = store.Store(nil)
	_ catalog.Plane        = recordedPlane{}
	_ catalog.Preparer     = recordedPlane{}
	_ management.Accounts  = store.Store(nil)
	_ management.Traffic   = (*journal.Journal)(nil)
	_ management.MockPlane = (*engine.Engine)(nil)
	_ journal.Sink         = store.Store(nil)
	_ engine.Recorder      = (*journal.Journal)(nil)
	_ engine.Amender       = (*journal.Journal)(nil)
	_ management.Guardian  = (*shield.Shield)(nil)
	_ shield.Kept          = store.Store(nil)
	_ management.Backups   = (*backup.Folder)(nil)
	_ backup.Source        = wholeCopy{}
	_ catalog.History      = store.Store(nil)
	_ management.State     = (*engine.Engine)(nil)
)

// recordedPlane is the mock plane with its record: a project that goes takes its exchanges along.
type recordedPlane struct {
	*engine.Engine

	journal *journal.Journal
}

// Publish serves a project from now on, and keeps of its exchanges what its retention says.
func (p recordedPlane) Publish(s *mockbase.Snapshot) error {
	if err := p.Engine.Publish(s); err != nil {
		return err
	}
	p.journal.Bound(s.Project.ID, s.Project.Retention)
	return nil
}

// Withdraw stops serving a project and forgets what was recorded of it.
func (p recordedPlane) Withdraw(projectID string) {
	p.Engine.Withdraw(projectID)
	p.journal.Drop(projectID)
}

// newManagement makes everything that is not a mock.
func (s *server) newManagement() (http.Handler, error) {
	metrics, err := s.newMetrics()
	if err != nil {
		return nil, err
	}
	o := management.Options{
		Catalog: s.catalog, Accounts: s.accounts(), OwnURLs: s.ownURLs, Traffic: s.journal, Mocks: s.engine, State: s.engine, Limits: s.engine, Connections: s.engine, Keys: s.keys, Warnings: s.engine.Warnings, Drift: s.engine.Drift,
		ClientAddress: s.shield.Client, Readiness: s.ready,
		AllowedHosts: s.allowedHosts(), PublicURL: string(s.settings.PublicURL), MocksURL: s.mocksURL(), BasePath: string(s.settings.BasePath),
		InsecureCookies: s.settings.AllowInsecureCookies, MockSchema: mockbase.Schema(),
		Metrics: metrics, PublicMetrics: s.settings.Metrics == "public",
		Build: management.BuildInfo{Version: version, Commit: commit, BuiltAt: builtAt},
		Clock: s.clock, Logger: s.log.Logger,
	}
	if s.settings.JournalCount == 0 {
		o.Traffic = nil
	}
	for _, origin := range s.settings.ManagementOrigins {
		o.Origins = append(o.Origins, string(origin))
	}
	o.Configuration, o.Settings, o.System = s.stored, s.stored.Settings, s.system
	if !s.ephemeral() {
		o.Backups = &backup.Folder{Path: filepath.Join(s.settings.DataDir, backupsName), Source: wholeCopy{s.engine, s.store}, Clock: s.clock}
	}
	if s.setup != nil {
		o.SetupCode = s.setup.SetupCode
	}
	if err := s.federate(&o); err != nil {
		return nil, err
	}
	o.Guardian, o.Fetch = s.shield, s.fetcher()
	o.Shield, o.LoginShield, o.LoginBan = s.shield.Management(), s.shield.Login(), s.shield.LoginBan()
	page, err := web.New(web.Options{
		InstanceName: string(s.settings.InstanceName), Version: version, PublicURL: string(s.settings.PublicURL), MocksURL: s.mocksURL(), BasePath: string(s.settings.BasePath), Facts: s.pageFacts,
	})
	if err != nil {
		return nil, fmt.Errorf("make page: %w", err)
	}
	if o.Web = page; s.settings.NoUI {
		// Links to accounts are handed out all the same.
		o.Web = page.Links()
	}
	made, err := management.New(o)
	if err != nil {
		return nil, fmt.Errorf("make management: %w", err)
	}
	s.shield.ManagementEndpoint, s.shield.TakesSecret = made.Endpoint, made.TakesSecret
	s.endStreams = made.EndStreams
	return made, nil
}

// mocksURL is where mocks answer when that is not where the management API does, else "".
func (s *server) mocksURL() string {
	switch {
	case s.settings.PublicURL != "" && s.settings.AdminAddr == "":
		return string(s.settings.PublicURL)
	case s.settings.AdminAddr != "":
		return reachable(s.scheme(), s.listen[0].Addr(), net.InterfaceAddrs)[0] // the base path is added to it
	default:
		return ""
	}
}

func (s *server) scheme() string {
	if s.tls != nil {
		return "https"
	}
	return "http"
}

// allowedHosts are the names that the management API answers to; none means any. On a loopback address only this machine's
// names and the operator's count, so that no page elsewhere reaches it by a name that it points here (rule M-17).
func (s *server) allowedHosts() []string {
	hosts := s.settings.AllowedHosts
	if at, ok := s.administration().Addr().(*net.TCPAddr); ok && at.IP.IsLoopback() {
		hosts = append([]string{"localhost"}, hosts...)
	}
	return hosts
}

// administration is the listener of the management API.
func (s *server) administration() net.Listener { return s.listen[len(s.listen)-1] }

// pageFacts are what the first page says of the server's state.
func (s *server) pageFacts() web.Facts {
	f := web.Facts{FileMode: s.files != nil, Example: s.example()}
	f.Projects, f.Mocks = s.counts()
	if s.setup != nil {
		users, err := s.store.UserCount(context.WithoutCancel(s.ctx))
		f.NeedsAdmin = err == nil && users == 0
	}
	return f
}

// wholeCopy copies the database with all that was answered before: what collections that persist hold in memory is stored first.
type wholeCopy struct {
	memory interface {
		Flush(ctx context.Context) error
	}
	backup.Source
}

// Copy fails where something could not be stored: the copy would be without it. What is stored first is not what the request is
// audited for.
func (w wholeCopy) Copy(ctx context.Context, path string) error {
	if err := w.memory.Flush(mockbase.WithReplay(mockbase.WithAudit(ctx, nil), nil)); err != nil {
		return err
	}
	return w.Source.Copy(ctx, path)
}
