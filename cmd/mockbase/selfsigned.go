package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"math/big"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// The files of a certificate that was made here, in the data directory.
const (
	selfSignedCert = "tls-cert.pem"
	selfSignedKey  = "tls-key.pem"
)

const (
	// selfSignedLife is how long a certificate is good: no client takes one that is good for much longer.
	selfSignedLife = 397 * 24 * time.Hour
	// renewBefore is how long before its end a kept one is made anew.
	renewBefore = 30 * 24 * time.Hour
)

// openSelfSigned takes the certificate that an earlier start made, while it still does for every name, or makes one.
func (s *server) openSelfSigned() error {
	names, addresses := s.certified()
	dir := s.settings.DataDir
	if s.ephemeral() {
		dir = ""
	}
	pair, err := keptCertificate(dir, names, addresses, s.clock())
	if err == nil && pair == nil {
		pair, err = makeCertificate(dir, names, addresses, s.clock())
	}
	if err != nil {
		return &failure{code: exitEnvironment, what: "make certificate", err: err, fix: "see to it that this user can write " + dir + ", or name files with --tls-cert and --tls-key"}
	}
	c := &certificates{}
	c.current.Store(pair)
	s.tls = c
	sum := sha256.Sum256(pair.Certificate[0])
	facts := []any{slog.String("sha256", hex.EncodeToString(sum[:]))}
	if dir != "" {
		facts = append(facts, slog.String("file", filepath.Join(dir, selfSignedCert)))
	}
	s.log.Info("the TLS certificate is self-signed: clients have to be told to trust it", facts...)
	return nil
}

// certified are the names and addresses that clients reach this server by.
func (s *server) certified() (names []string, addresses []net.IP) {
	names = []string{"localhost", hostName()}
	addresses = []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback}
	if at, err := url.Parse(string(s.settings.PublicURL)); err == nil && at.Hostname() != "" {
		names = append(names, at.Hostname())
	}
	names = append(names, s.settings.AllowedHosts...)
	for _, own := range s.settings.ProjectHost {
		names = append(names, own.Host)
	}
	if found, err := net.InterfaceAddrs(); err == nil {
		for _, a := range found {
			if network, ok := a.(*net.IPNet); ok && !network.IP.IsLoopback() && !network.IP.IsLinkLocalUnicast() {
				addresses = append(addresses, network.IP)
			}
		}
	}
	for _, name := range names {
		if ip := net.ParseIP(name); ip != nil {
			addresses = append(addresses, ip)
		}
	}
	names = slices.DeleteFunc(names, func(name string) bool { return net.ParseIP(name) != nil })
	slices.Sort(names)
	return slices.Compact(names), addresses
}

// keptCertificate reads the certificate of an earlier start. It returns nil where there is none, where it ends soon, and
// where a name is new; an address may come and go.
func keptCertificate(dir string, names []string, addresses []net.IP, now time.Time) (*tls.Certificate, error) {
	if dir == "" {
		return nil, nil //nolint:nilnil // nothing is kept
	}
	pair, err := tls.LoadX509KeyPair(filepath.Join(dir, selfSignedCert), filepath.Join(dir, selfSignedKey))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil //nolint:nilnil // nothing is kept yet
	}
	if err != nil {
		return nil, fmt.Errorf("use %s: %w", filepath.Join(dir, selfSignedCert), err)
	}
	if now.Add(renewBefore).After(pair.Leaf.NotAfter) || !covers(pair.Leaf, append(slices.Clone(names), addresses[0].String())) {
		return nil, nil //nolint:nilnil // it does not do any more
	}
	return &pair, nil
}

// covers tells whether a certificate is for all of these hosts.
func covers(leaf *x509.Certificate, hosts []string) bool {
	return !slices.ContainsFunc(hosts, func(host string) bool { return leaf.VerifyHostname(host) != nil })
}

// makeCertificate makes a certificate and keeps it, unless nothing is kept.
func makeCertificate(dir string, names []string, addresses []net.IP, now time.Time) (*tls.Certificate, error) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return nil, err
	}
	// It is its own authority, so that a client may be told to trust it alone.
	template := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: names[0], Organization: []string{"MockBase, self-signed"}},
		NotBefore: now.Add(-time.Hour), NotAfter: now.Add(selfSignedLife), DNSNames: names, IPAddresses: addresses,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		BasicConstraintsValid: true, IsCA: true, MaxPathLenZero: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		return nil, err
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return nil, err
	}
	cert := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	key := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret})
	if dir != "" {
		err := errors.Join(os.MkdirAll(dir, 0o700), replaceFile(filepath.Join(dir, selfSignedKey), key), replaceFile(filepath.Join(dir, selfSignedCert), cert))
		if err != nil {
			return nil, err
		}
	}
	pair, err := tls.X509KeyPair(cert, key)
	return &pair, err
}
