package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestMain lets the test binary be the program itself when it is called by that name, which is how scripts and
// end-to-end tests start it.
func TestMain(m *testing.M) {
	// A program with the race detector sleeps for a second before it ends, in case a race is about to happen. The tests start
	// hundreds of them, and none leaves anything running; who asks for another pause gets it.
	if err := os.Setenv(raceOptions, strings.TrimSpace("atexit_sleep_ms=20 "+os.Getenv(raceOptions))); err != nil {
		panic(err)
	}
	testscript.Main(m, map[string]func(){"mockbase": main})
}

// raceOptions is the variable that the race detector reads when a program starts.
const raceOptions = "GORACE"

// The scripts are named after the rules they prove (rule C-81).
func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		UpdateScripts:       os.Getenv("UPDATE_GOLDEN") == "1",
		Setup: func(e *testscript.Env) error {
			examples, err := filepath.Abs("../../examples")
			e.Vars = append(e.Vars, "NO_PROXY=*", "EXAMPLES="+examples, raceOptions+"="+os.Getenv(raceOptions))
			return err
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits":      scriptExits,
			"signal":     scriptSignal,
			"ready":      scriptReady,
			"eventually": scriptEventually,
			"listen":     scriptListen,
			"plain":      scriptPlain,
			"keypair":    scriptKeyPair,
		},
	})
}

// exits CODE COMMAND… runs a command that must end with this code. Its output can be looked at like that of exec.
func scriptExits(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND…")
	}
	code := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		exit, ok := errors.AsType[*exec.ExitError](err)
		if !ok {
			ts.Fatalf("run %s: %v", args[1], err)
		}
		code = exit.ExitCode()
	}
	if strconv.Itoa(code) != args[0] {
		ts.Fatalf("%s ended with %d, want %s", strings.Join(args[1:], " "), code, args[0])
	}
}

// signal NAME sends a signal to the server that was started last.
func scriptSignal(ts *testscript.TestScript, _ bool, args []string) {
	known := map[string]os.Signal{"TERM": syscall.SIGTERM, "INT": os.Interrupt, "HUP": syscall.SIGHUP}
	running := ts.BackgroundCmds()
	if len(args) != 1 || known[args[0]] == nil || len(running) == 0 {
		ts.Fatalf("usage: signal TERM|INT|HUP, while a command runs in the background")
	}
	ts.Check(running[len(running)-1].Process.Signal(known[args[0]]))
}

// patience is how long a script waits for something that happens at once on an idle machine.
const patience = time.Minute

// ready FILE waits for a port file and puts the port into $PORT and the URL into $URL.
func scriptReady(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 1 {
		ts.Fatalf("usage: ready PORT-FILE")
	}
	port := ""
	within(ts, "file "+args[0], func() bool {
		text, err := os.ReadFile(ts.MkAbs(args[0]))
		port = strings.TrimSpace(string(text))
		return err == nil && port != ""
	})
	ts.Setenv("PORT", port)
	ts.Setenv("URL", "http://127.0.0.1:"+port)
}

// eventually TEXT COMMAND… runs a command until its output holds the text.
func scriptEventually(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: eventually TEXT COMMAND…")
	}
	within(ts, args[0], func() bool {
		return ts.Exec(args[1], args[2:]...) == nil && strings.Contains(ts.ReadFile("stdout"), args[0])
	})
}

func within(ts *testscript.TestScript, what string, done func() bool) {
	deadline := time.After(patience)
	pace := time.NewTicker(20 * time.Millisecond)
	defer pace.Stop()
	for !done() {
		select {
		case <-pace.C:
		case <-deadline:
			ts.Fatalf("%s did not come within %s", what, patience)
		}
	}
}

// listen NAME keeps a port busy until the script ends, and puts its number into the variable.
func scriptListen(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 1 {
		ts.Fatalf("usage: listen NAME")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	ts.Check(err)
	ts.Defer(func() { _ = l.Close() })
	_, port, err := net.SplitHostPort(l.Addr().String())
	ts.Check(err)
	ts.Setenv(args[0], port)
}

// plain SOURCE TARGET writes what a start said, without what differs from run to run and from place to place.
func scriptPlain(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: plain SOURCE TARGET")
	}
	text := ts.ReadFile(args[0])
	for _, r := range []struct{ pattern, with string }{
		{`(?s)\nIn a container the port.*?host-gateway\)\.\n`, ""},
		{`[0-9A-HJKMNP-TV-Z]{4}-[0-9A-HJKMNP-TV-Z]{4}-[0-9A-HJKMNP-TV-Z]{4}`, "{code}"},
		{`127\.0\.0\.1:\d+`, "127.0.0.1:{port}"},
		{`time=\d\d:\d\d:\d\d`, "time={time}"},
		{`pid \d+`, "pid {pid}"},
	} {
		text = regexp.MustCompile(r.pattern).ReplaceAllString(text, r.with)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(text), 0o600))
}

// keypair NAME [expired] writes NAME.pem and NAME.key for 127.0.0.1.
func scriptKeyPair(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) < 1 {
		ts.Fatalf("usage: keypair NAME [expired]")
	}
	until := time.Now().Add(time.Hour)
	if len(args) > 1 {
		until = time.Now().Add(-time.Hour)
	}
	cert, key, err := selfSigned(until)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]+".pem"), cert, 0o600))
	ts.Check(os.WriteFile(ts.MkAbs(args[0]+".key"), key, 0o600))
}

// selfSigned makes a certificate for this machine, and its key, in PEM.
func selfSigned(until time.Time) (cert, key []byte, err error) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "localhost"}, NotBefore: until.Add(-24 * time.Hour), NotAfter: until,
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, DNSNames: []string{"localhost"},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		return nil, nil, err
	}
	secret, err := x509.MarshalECPrivateKey(private)
	if err != nil {
		return nil, nil, err
	}
	cert = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	return cert, pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: secret}), nil
}
