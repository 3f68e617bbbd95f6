package main

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync/atomic"
	"time"
)

// certificates are read from two files, and again at SIGHUP.
type certificates struct {
	certFile, keyFile string
	current           atomic.Pointer[tls.Certificate]
}

// openCertificates reads the TLS files, if there are any (rule C-80).
func (s *server) openCertificates() error {
	if s.settings.TLSSelfSigned {
		return s.openSelfSigned()
	}
	if s.settings.TLSCert == "" {
		return nil
	}
	c := &certificates{certFile: s.settings.TLSCert, keyFile: s.settings.TLSKey}
	if err := c.load(s.log.Logger, s.clock()); err != nil {
		return err
	}
	s.tls = c
	return nil
}

// load replaces the certificate. One that is expired is served with a warning: a client may well accept it.
func (c *certificates) load(logger *slog.Logger, now time.Time) error {
	cert, err := os.ReadFile(c.certFile)
	if err != nil {
		return c.fault("read --tls-cert", err, "name a file that this user can read")
	}
	key, err := os.ReadFile(c.keyFile)
	if err != nil {
		return c.fault("read --tls-key", err, "name a file that this user can read")
	}
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return c.fault(fmt.Sprintf("use --tls-cert %s with --tls-key %s", c.certFile, c.keyFile), err, "name a certificate chain in PEM and the private key that belongs to it")
	}
	if pair.Leaf != nil {
		warnOfDates(logger, pair.Leaf, c.certFile, now)
	}
	c.current.Store(&pair)
	return nil
}

func (*certificates) fault(what string, err error, fix string) error {
	return &failure{code: exitEnvironment, what: what, err: err, fix: fix}
}

func warnOfDates(logger *slog.Logger, leaf *x509.Certificate, path string, now time.Time) {
	switch {
	case now.After(leaf.NotAfter):
		logger.Warn("the TLS certificate has expired", slog.String("file", path), slog.Time("not_after", leaf.NotAfter))
	case now.Before(leaf.NotBefore):
		logger.Warn("the TLS certificate is not valid yet", slog.String("file", path), slog.Time("not_before", leaf.NotBefore))
	}
}

// reload keeps the certificate that there is when the files are wrong.
func (c *certificates) reload(logger *slog.Logger, now time.Time) {
	if err := c.load(logger, now); err != nil {
		logger.Error("the TLS files are wrong, the old certificate stays", slog.Any("error", err))
		return
	}
	logger.Info("the TLS certificate was read again")
}

var errNoCertificate = errors.New("no certificate")

func (c *certificates) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	if pair := c.current.Load(); pair != nil {
		return pair, nil
	}
	return nil, errNoCertificate
}
