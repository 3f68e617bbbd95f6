package main

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/mockbase/mockbase/cmd/mockbase/internal/config"
)

// healthcheckPatience is how long the server may take to answer (rule C-28).
const healthcheckPatience = 3 * time.Second

// healthcheckCommand asks the server that has the same settings. It needs no shell and no other program, so that an image
// can use it.
type healthcheckCommand struct {
	config.Listen

	Ready bool `name:"ready" help:"Ask whether it is ready, and not only whether it lives."`
}

// Run ends with 0 when the server is well, and with 1 when it is not.
func (c *healthcheckCommand) Run(p *process) error {
	target := c.target()
	client := &http.Client{
		Timeout: healthcheckPatience,
		Transport: &http.Transport{
			// The address is our own and so is whoever answers; the certificate names another host.
			TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, //nolint:gosec // see above
		},
	}
	defer client.CloseIdleConnections()
	request, err := http.NewRequestWithContext(p.ctx, http.MethodGet, target, http.NoBody)
	if err != nil {
		return fail(exitUsage, "ask "+target, err)
	}
	answer, err := client.Do(request)
	if err != nil {
		return c.unhealthy(p, target, plainReason(err))
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(io.LimitReader(answer.Body, 4096))
	if err != nil {
		return c.unhealthy(p, target, err)
	}
	if answer.StatusCode != http.StatusOK {
		return c.unhealthy(p, target, fmt.Errorf("status %d: %s", answer.StatusCode, oneLine(string(body))))
	}
	if !p.quiet {
		printf(p.Out, "%s\n", oneLine(string(body)))
	}
	return nil
}

func (*healthcheckCommand) unhealthy(p *process, target string, err error) error {
	return &failure{
		code: exitCheckFailed, what: "ask " + target, err: err,
		fix: "start the server, or name its address with --addr or MOCKBASE_ADDR (now from: " + string(p.origins["addr"]) + ")",
	}
}

// target is the probe's URL on the loopback side of the address that serve binds.
func (c *healthcheckCommand) target() string {
	scheme, path := "http", "/healthz"
	if c.TLSCert != "" || c.TLSSelfSigned {
		scheme = "https"
	}
	if c.Ready {
		path = "/readyz"
	}
	host := c.Addr.Host()
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
		if strings.Contains(c.Addr.Host(), ":") {
			host = "::1"
		}
	}
	return scheme + "://" + net.JoinHostPort(host, strconv.Itoa(c.Addr.Port())) + path
}

// plainReason drops the URL that net/http puts in front of a reason, since the message names it already.
func plainReason(err error) error {
	for inner := err; inner != nil; inner = errors.Unwrap(inner) {
		if timeout, ok := inner.(net.Error); ok && timeout.Timeout() { //nolint:errorlint // the loop unwraps
			return fmt.Errorf("no answer within %s", healthcheckPatience)
		}
		err = inner
	}
	return err
}
