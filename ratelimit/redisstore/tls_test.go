package redisstore_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mockbase/mockbase/internal/testkit"
	"github.com/mockbase/mockbase/ratelimit/redisstore"
)

// selfSigned writes a certificate for 127.0.0.1 that is its own CA, and its key.
func selfSigned(t *testing.T) (certFile, keyFile string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "redis"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	secretKey, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write := func(name, kind string, body []byte) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: body}), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	return write("cert.pem", "CERTIFICATE", cert), write("key.pem", "PRIVATE KEY", secretKey)
}

func TestRL47_TLS_trusts_the_CA_that_is_named_and_no_other(t *testing.T) {
	t.Parallel()
	cert, key := selfSigned(t)
	port := testkit.FreePort(t)
	addr := net.JoinHostPort("127.0.0.1", port)
	server := testkit.StartRedis(t, "--tls-port", port, "--tls-cert-file", cert, "--tls-key-file", key,
		"--tls-ca-cert-file", cert, "--tls-auth-clients", "no")
	server.Do("ACL", "SETUSER", "app", "on", ">"+secret, "~*", "+@all")

	trusting := open(t, redisstore.Options{Config: redisstore.Config{
		Addrs: []string{"rediss://app:" + secret + "@" + addr}, TLSCA: cert, Budget: redisstore.Patient,
	}})
	r := &rig{server: server, store: trusting}
	for range 3 {
		if err := r.take(t.Context()); err != nil {
			t.Errorf("take: %v", err)
		}
	}
	if got := r.count(t); got != 3 {
		t.Errorf("counted %d, want 3", got)
	}

	wary := open(t, redisstore.Options{Config: redisstore.Config{Addrs: []string{"rediss://app:" + secret + "@" + addr}, Budget: redisstore.Patient}})
	err := wary.Ping(t.Context())
	if err == nil || !strings.Contains(err.Error(), "certificate") || strings.Contains(err.Error(), secret) {
		t.Errorf("ping without the CA: %v, want it to speak of the certificate", err)
	}
}
