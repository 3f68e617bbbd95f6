package config

import (
	"fmt"
	"net"
	"strings"

	"github.com/mockbase/mockbase"
)

// ProjectAddress is a listener of a project's own (rule C-21).
type ProjectAddress struct {
	Slug    string
	Address Address
}

// UnmarshalText reads shop=:4001.
func (p *ProjectAddress) UnmarshalText(text []byte) error {
	slug, rest, err := splitOwned(text, "shop=:4001")
	if err != nil {
		return err
	}
	p.Slug = slug
	return p.Address.UnmarshalText([]byte(rest))
}

// String writes the address the way it is read.
func (p ProjectAddress) String() string { return p.Slug + "=" + string(p.Address) }

// ProjectHost is a host name of a project's own (rule C-21).
type ProjectHost struct {
	Slug string
	// Host is in lower case and without a port.
	Host string
}

// UnmarshalText reads shop=shop.test. A port is no part of it, because that of --addr is the only one.
func (p *ProjectHost) UnmarshalText(text []byte) error {
	slug, host, err := splitOwned(text, "shop=shop.test")
	if err != nil {
		return err
	}
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	if host == "" || strings.ContainsAny(host, "/:@?# []*") && net.ParseIP(host) == nil {
		return fmt.Errorf("%q is no host name: write it like shop.test, without a port", host)
	}
	p.Slug, p.Host = slug, host
	return nil
}

// String writes the host the way it is read.
func (p ProjectHost) String() string { return p.Slug + "=" + p.Host }

// splitOwned splits a project's name from what it owns.
func splitOwned(text []byte, example string) (slug, rest string, err error) {
	slug, rest, ok := strings.Cut(string(text), "=")
	if !ok || rest == "" {
		return "", "", fmt.Errorf("%q names no project: write it like %s", text, example)
	}
	if !mockbase.ValidSlug(slug) {
		return "", "", fmt.Errorf("%q is no project name: write 1 to 64 lower-case letters, digits and hyphens", slug)
	}
	return slug, rest, nil
}

// owned finds names and addresses that are given to two projects.
func (c *checker) owned(s *Settings) {
	if s.TLSSelfSigned && s.TLSCert != "" {
		c.add("tls-self-signed", "drop one of the two", "is set, and so is %s", c.spell("tls-cert"))
	}
	hosts := map[string]string{}
	for _, h := range s.ProjectHost {
		if other, taken := hosts[h.Host]; taken && other != h.Slug {
			c.add("project-host", "give each project a host of its own", "%s is given to %s and to %s", h.Host, other, h.Slug)
		}
		hosts[h.Host] = h.Slug
	}
	taken := map[Address]string{s.Addr: c.spell("addr")}
	if s.AdminAddr != "" {
		taken[s.AdminAddr] = c.spell("admin-addr")
	}
	for _, l := range s.ListenProject {
		if l.Address.Port() == 0 {
			continue
		}
		if by, ok := taken[l.Address]; ok {
			c.add("listen-project", "choose another port", "%s is the address of %s as well", l, by)
		}
		taken[l.Address] = "project " + l.Slug
	}
}
