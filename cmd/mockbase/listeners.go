package main

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/cmd/mockbase/internal/config"
	"github.com/mockbase/mockbase/engine"
	"github.com/mockbase/mockbase/engine/parking"
)

// The times of a connection (rule N12): there is none for writing, because an answer may be slow on purpose.
const (
	headerTimeout = 10 * time.Second
	idleTimeout   = 120 * time.Second
	// headerSlack is what net/http reads beyond the bound that it is given.
	headerSlack = 4096
)

// httpServers serve one listener each.
type httpServers struct {
	all    []*parking.Lot
	failed chan error
}

// serveHTTP lets every listener serve its plane.
func (s *server) serveHTTP() error {
	administration, err := s.newManagement()
	if err != nil {
		return err
	}
	s.http = &httpServers{failed: make(chan error, len(s.listen)+len(s.owned))}
	s.ends = append(s.ends, s.http.close)
	for _, own := range s.owned {
		s.serve(own.Listener, s.engine.Own(own.slug))
	}
	base := string(s.settings.BasePath)
	if len(s.listen) == 1 {
		s.serve(s.listen[0], s.withHosts(behindBase(base, &plane{mocks: s.engine, management: administration})))
		return nil
	}
	s.serve(s.listen[0], s.withHosts(behindBase(base, &plane{mocks: s.engine, management: &mocksOnly{management: administration, base: base, clock: s.clock}})))
	s.serve(s.listen[1], administrationBehind(base, administration))
	return nil
}

// newHTTPServer makes a server of HTTP/1.1 and HTTP/2, over TLS and in clear by prior knowledge (rule N10).
func newHTTPServer(handler http.Handler, maxHeader config.Bytes, logger *slog.Logger) *http.Server {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	protocols.SetHTTP2(true)
	protocols.SetUnencryptedHTTP2(true)
	return &http.Server{
		Handler:                      handler,
		ReadHeaderTimeout:            headerTimeout,
		IdleTimeout:                  idleTimeout,
		MaxHeaderBytes:               int(maxHeader) - headerSlack,
		DisableGeneralOptionsHandler: true, // OPTIONS * is the mocks' (rule L7)
		Protocols:                    protocols,
		ErrorLog:                     slog.NewLogLogger(logger.Handler(), slog.LevelDebug),
	}
}

func (s *server) serve(l net.Listener, handler http.Handler) {
	lot := parking.New(newHTTPServer(handler, s.settings.MaxHeader, s.log.Logger), parking.Options{Refuse: s.refuseHead, MaxHead: int(s.settings.MaxHeader)})
	s.http.all = append(s.http.all, lot)
	l = s.behindBalancers(l)
	go func() {
		var err error
		if s.tls != nil {
			err = lot.ServeTLS(l, &tls.Config{
				GetCertificate: s.tls.get, MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"},
			})
		} else {
			err = lot.Serve(l)
		}
		if !errors.Is(err, http.ErrServerClosed) {
			s.http.failed <- err
		}
	}()
}

// refuseHead answers a request that belongs to no plane, as its head cannot be read or expects too much (rules M-6, N4 and N7).
func (s *server) refuseHead(r *parking.Refused) *http.Response {
	now := s.clock()
	answer := engine.RefuseHead(r, engine.HeadBounds{
		MaxHeader: int64(s.settings.MaxHeader), MaxTarget: int64(s.settings.MaxTarget), BasePath: string(s.settings.BasePath),
	}, mockbase.NewID("req_", now))
	answer.Header.Set("Date", now.UTC().Format(http.TimeFormat))
	s.log.Debug("a request was refused by its head", slog.Int("status", answer.StatusCode), slog.String("reason", r.Reason))
	return answer
}

// shutdown stops accepting on every listener and waits for the answers in flight; at the end of ctx it cuts them off.
func (h *httpServers) shutdown(ctx context.Context) error {
	done := make(chan error, len(h.all))
	for _, lot := range h.all {
		go func() { done <- lot.Shutdown(ctx) }()
	}
	var errs []error
	for range h.all {
		errs = append(errs, <-done)
	}
	return errors.Join(append(errs, h.close())...)
}

// close cuts everything off.
func (h *httpServers) close() error {
	var errs []error
	for _, lot := range h.all {
		errs = append(errs, lot.Close())
	}
	return errors.Join(errs...)
}
