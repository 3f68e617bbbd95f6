package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/mockbase/mockbase/cmd/mockbase/internal/config"
	"github.com/mockbase/mockbase/engine"
	"github.com/mockbase/mockbase/engine/journal"
	"github.com/mockbase/mockbase/engine/tape"
	"github.com/mockbase/mockbase/management"
	"github.com/mockbase/mockbase/management/auth"
	"github.com/mockbase/mockbase/management/catalog"
	"github.com/mockbase/mockbase/store/sqlite"
)

// serveCommand runs the server (rule C-20).
type serveCommand struct {
	config.Settings

	Paths []string `arg:"" optional:"" name:"dir" help:"Folders with mocks in *.yaml, *.yml and *.json files, or single such files: definitions and OpenAPI documents. Without one, the mocks of the data directory."`
}

// Help is what kong prints below the summary.
func (*serveCommand) Help() string {
	return `Without DIR everything is kept in the data directory, and changed over the management API. With DIR, which may be a
file as well, the files are the whole truth: they are loaded again when they change, nobody needs an account, and unless a
data directory is named everything else lives in memory. A file that is an OpenAPI document answers all its operations.
Files of other tools come in with mockbase import FILE --to mocks.yaml.`
}

// server is everything that serve runs. Its parts are made in the order of the fields and ended in the other direction.
type server struct {
	*process

	settings *config.Settings
	log      *journalist
	tls      *certificates
	listen   []net.Listener
	owned    []ownedListener
	store    *sqlite.DB
	keys     *auth.KeyRing
	shield   *guarded
	journal  *journal.Journal
	engine   *engine.Engine
	limits   *simulated
	catalog  *catalog.Catalog
	files    *fileMode
	// shelf is where documents of files wait for the engine.
	shelf   documentShelf
	setup   *setupCode
	passing *passingAccounts
	stored  *storedSettings
	began   time.Time
	state   *readiness
	// endStreams ends the streams of events.
	endStreams func()
	// guest tells that the process itself needs a token, as the ready file has one.
	guest bool
	// fresh tells that nobody had an account when the store was opened.
	fresh bool
	http  *httpServers
	// ends are called in reverse order.
	ends []func() error
}

// Run starts the server and stays until a signal or the end of the process's context.
func (c *serveCommand) Run(p *process) error {
	s := &server{process: p, settings: &c.Settings, log: p.newJournalist(c.Messages), state: &readiness{}, began: p.clock(), shelf: documentShelf{compile: describeDocument}}
	for _, w := range p.settings.Warnings() {
		s.log.Warn("a variable has no effect", slog.String("variable", w.Variable), slog.String("reason", w.String()))
	}
	if found := c.Check(p.origins); len(found) > 0 {
		return settingFaults(found)
	}
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer signal.Stop(signals)
	err := s.start(c.Paths)
	if err == nil {
		s.announce()
		err = s.stay(signals)
	}
	if errors.Is(err, errAbandoned) {
		return fail(exitInterrupted, "", errSilent)
	}
	return errors.Join(err, s.close())
}

// errAbandoned ends the process at once, without waiting for anything.
var errAbandoned = errors.New("abandoned")

// start makes all parts and lets them serve. What it opened before an error is closed by close.
func (s *server) start(paths []string) error {
	steps := []func() error{
		s.checkAdmin,
		func() error { return s.openFiles(paths) },
		s.openCertificates,
		s.bind,
		s.openStore,
		s.openSettings,
		s.openShield,
		s.openMocks,
		s.openAccounts,
		s.loadMocks,
		s.restoreTraffic,
		s.serveHTTP,
		s.writeFiles,
		s.startUpkeep,
		s.collectLess,
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// bind binds every listener before anything is announced (rule C-21).
func (s *server) bind() error {
	addresses := []namedAddress{{"addr", s.settings.Addr}}
	if s.settings.AdminAddr != "" {
		addresses = append(addresses, namedAddress{"admin-addr", s.settings.AdminAddr})
	}
	shared := len(addresses)
	for _, own := range s.settings.ListenProject {
		addresses = append(addresses, namedAddress{"listen-project", own.Address})
	}
	open, err := newBinder(s.origins).bind(s.ctx, addresses)
	if err != nil {
		return err
	}
	s.listen = open[:shared]
	for i, own := range s.settings.ListenProject {
		s.owned = append(s.owned, ownedListener{Listener: open[shared+i], slug: own.Slug})
	}
	for _, l := range open {
		s.ends = append(s.ends, func() error {
			if err := l.Close(); !errors.Is(err, net.ErrClosed) {
				return err
			}
			return nil
		})
		s.warnOfPlainHTTP(l)
	}
	return nil
}

// warnOfPlainHTTP tells that passwords can be read on their way (rule C-80).
func (s *server) warnOfPlainHTTP(l net.Listener) {
	if at, ok := l.Addr().(*net.TCPAddr); !ok || !at.IP.IsUnspecified() || s.tls != nil {
		return
	}
	s.log.Warn("the server listens on all addresses with plain HTTP: passwords travel unencrypted, and sign-ins are not remembered except on this machine",
		slog.String("address", l.Addr().String()), slog.String("fix", "--tls-cert and --tls-key, or a proxy with TLS in front; --addr 127.0.0.1:8080 for this machine alone"))
}

// openStore opens the data directory, or a store in memory when nothing is to be kept.
func (s *server) openStore() error {
	folder := dataDir{path: s.settings.DataDir, origin: s.origins["data-dir"], logger: s.log.Logger, clock: s.clock}
	if s.ephemeral() {
		folder.path = ""
	}
	db, err := folder.open(s.ctx)
	if err != nil {
		return err
	}
	s.store = db
	s.ends = append(s.ends, db.Close)
	return s.openKeys(folder.path)
}

// openKeys reads the signing keys, or makes them at the first start. Keys that went missing are made anew too, and that
// is told, because it ends every sign-in.
func (s *server) openKeys(dir string) error {
	lost := false
	if dir != "" {
		_, err := os.Stat(filepath.Join(dir, auth.KeyRingFile))
		lost = errors.Is(err, fs.ErrNotExist)
	}
	keys, err := auth.OpenKeyRing(dir, s.clock)
	if err != nil {
		return &failure{
			code: exitEnvironment, what: "open signing keys", err: err,
			fix: "restore " + auth.KeyRingFile + " from a backup, or remove it: new keys are made, and everybody signs in again",
		}
	}
	s.keys = keys
	users, err := s.store.UserCount(s.ctx)
	if err != nil {
		return fmt.Errorf("count users: %w", err)
	}
	if lost && users > 0 {
		s.log.Warn("the signing keys were missing and are made anew: everybody has to sign in again", slog.String("data_dir", dir))
	}
	return nil
}

// ephemeral tells whether nothing is kept: when that is asked for, and in file mode unless a data directory is named
// (rule C-20).
func (s *server) ephemeral() bool {
	return s.settings.Ephemeral || s.files != nil && !s.origins["data-dir"].Stated()
}

// openMocks makes the mock plane: journal, engine and catalog.
func (s *server) openMocks() error {
	s.journal = journal.New(journal.Options{
		Count: int(s.settings.JournalCount), Bytes: int64(s.settings.JournalBytes), Age: s.settings.JournalAge.Span(),
		Clock: s.clock, Logger: s.log.Logger, Sink: s.store, Persist: s.persists,
	})
	s.ends = append(s.ends, func() error {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(s.ctx), s.settings.ShutdownTimeout.Span())
		defer cancel()
		return s.journal.Close(ctx)
	})
	mocks := tape.NewRecorder(&mockKeeper{func() *catalog.Catalog { return s.catalog }}, s.log.Logger)
	s.ends = append(s.ends, func() error {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(s.ctx), s.settings.ShutdownTimeout.Span())
		defer cancel()
		mocks.Close(ctx)
		return nil
	})
	options := engine.Options{
		Mocks:         mocks,
		ClientAddress: s.shield.Client, Clock: s.clock, Logger: s.log.Logger,
		MaxBody: int64(s.settings.MaxBody), MaxTarget: int64(s.settings.MaxTarget), MaxHeader: int64(s.settings.MaxHeader), FilesRoot: s.settings.FilesRoot,
		Upstreams: s.upstreams(), Data: s.store, Describe: s.shelf.describe, Join: joinDocument,
		BasePath:     string(s.settings.BasePath) + engine.DefaultBasePath,
		KeySecret:    s.keySecret(),
		SharedOrigin: s.settings.AdminAddr == "", Sandbox: sandboxOf(s.settings.BrowserSandbox),
	}
	if s.settings.JournalCount > 0 {
		options.Journal = s.journal
	}
	options.Shield = s.shield.Mocks()
	if err := s.openSimulatedLimits(); err != nil {
		return err
	}
	options.Limits = s.limits.Keeper
	options.Admits = management.TokenGate{Tokens: s.store, ClientAddress: s.shield.Client, Clock: s.clock}.Admits
	options.Explains = s.explains
	made, err := engine.New(options)
	if err != nil {
		return fmt.Errorf("make engine: %w", err)
	}
	s.engine, s.shield.MockEndpoint, s.shield.IgnoresCase = made, made.Endpoint, made.IgnoresCase
	s.catalog = catalog.New(catalog.Options{Store: s.store, History: s.store, Plane: recordedPlane{made, s.journal}, Clock: s.clock, Logger: s.log.Logger})
	s.stored.applied(s.stored.Settings())
	return nil
}

// explains tells whether a request may be told why it is answered as it is, also with the token of the ready file.
func (s *server) explains(r *http.Request, projectID string) bool {
	gate := management.TokenGate{Tokens: s.store, ClientAddress: s.shield.Client, Clock: s.clock}
	if s.passing != nil {
		gate.Tokens = s.passing
	}
	return gate.Explains(r, projectID)
}

// persists tells whether a project's exchanges are saved.
func (s *server) persists(projectID string) bool {
	snapshot, ok := s.catalog.Project(projectID)
	return ok && snapshot.Project.PersistTraffic
}

func sandboxOf(mode config.Sandbox) engine.Sandbox {
	switch mode {
	case "off":
		return engine.SandboxOff
	case "project":
		return engine.SandboxProject
	default:
		return engine.SandboxOn
	}
}

// stay serves until a signal ends it, and reloads what files hold at SIGHUP (rule C-25).
func (s *server) stay(signals <-chan os.Signal) error {
	for {
		select {
		case got := <-signals:
			if got == syscall.SIGHUP {
				s.reload()
				continue
			}
			s.log.Info("stopping", slog.String("signal", got.String()))
			return s.drain(signals)
		case <-s.ctx.Done():
			return s.drain(signals)
		case err := <-s.http.failed:
			return fail(exitEnvironment, "serve", err)
		}
	}
}

// drain lets the answers in flight finish. A second signal ends everything at once.
func (s *server) drain(signals <-chan os.Signal) error {
	s.state.drain()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(s.ctx), s.settings.ShutdownTimeout.Span())
	defer cancel()
	drained := make(chan error, 1)
	go func() {
		if s.endStreams != nil {
			s.endStreams()
		}
		// Delays end at once; what they held back is answered now, while webhooks under way end.
		closed := make(chan error, 1)
		go func() { closed <- s.engine.Close() }()
		drained <- errors.Join(s.http.shutdown(ctx), <-closed, s.engine.Flush(ctx))
	}()
	for {
		select {
		case err := <-drained:
			if errors.Is(err, context.DeadlineExceeded) {
				s.log.Warn("answers were cut off at the end of the time for them", slog.Duration("shutdown_timeout", s.settings.ShutdownTimeout.Span()))
				return nil
			}
			return err
		case got := <-signals:
			if got != syscall.SIGHUP {
				return errAbandoned
			}
		}
	}
}

// close ends all parts, the last made first. What fails is reported, and the rest is ended all the same.
func (s *server) close() error {
	var errs []error
	for _, end := range slices.Backward(s.ends) {
		errs = append(errs, end())
	}
	s.ends = nil
	if err := errors.Join(errs...); err != nil {
		return fail(exitEnvironment, "stop", err)
	}
	return nil
}

// reload reads again what files hold: mocks and certificates.
func (s *server) reload() {
	if s.tls != nil && s.tls.certFile != "" {
		s.tls.reload(s.log.Logger, s.clock())
	}
	if s.files != nil {
		s.files.addresses.forget()
		s.files.reload(s.ctx)
	}
}

// keySecret makes the digests of secrets in keys of simulated limits: servers that share their counts share the identity
// secret, and one alone keeps its own.
func (s *server) keySecret() []byte {
	if secret := s.settings.IdentitySecret.Reveal(); secret != "" {
		return []byte(secret)
	}
	return s.keys.Derive("simulated limit keys")
}
