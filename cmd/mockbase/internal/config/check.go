package config

import (
	"fmt"
	"net/mail"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/mockbase/mockbase/ratelimit/redisstore"
)

// Check reads the secrets that files hold and looks for settings that contradict each other. It reports every fault; the
// settings are complete when there is none. Of settings that are wrong by themselves, and of what goes with them, nothing
// more can be told.
func (s *Settings) Check(origins map[string]Origin, wrong ...string) []Fault {
	c := checker{origins: origins, wrong: wrong}
	c.secret(&s.RedisURL, "redis-url", s.RedisURLFile)
	c.secret(&s.IdentitySecret, "identity-secret", s.IdentitySecretFile)
	c.secret(&s.AdminPassword, "admin-password", s.AdminPasswordFile)
	c.admin(s)
	c.provider(s)
	c.tls(s)
	c.owned(s)
	c.redis(s)
	c.limits(s)
	c.names(s)
	c.algorithms(s)
	c.excluded(s)
	c.fingerprint(s)
	c.identity(s)
	c.circuit(s)
	s.bounds(func(name, reason string) { c.add(name, "", "%s", reason) })
	return c.faults
}

type checker struct {
	origins map[string]Origin
	wrong   []string
	faults  []Fault
}

func (c *checker) add(name, fix, format string, args ...any) {
	f := Fault{Subject: c.spell(name), Reason: fmt.Sprintf(format, args...), Fix: fix}
	if !slices.ContainsFunc(c.wrong, func(w string) bool { return w == name || c.mentions(&f, w) }) {
		c.faults = append(c.faults, f)
	}
}

// mentions says whether a fault is about another setting too, in any spelling.
func (c *checker) mentions(f *Fault, name string) bool {
	text := f.Reason + " " + f.Fix + " "
	for _, spelled := range []string{c.spell(name), "--" + name, EnvName(name), keyName(name)} {
		if strings.Contains(text, spelled+" ") || strings.Contains(text, spelled+",") {
			return true
		}
	}
	return false
}

func (c *checker) spell(name string) string { return Spell(name, c.origins[name]) }

// secret fills a secret from its file. One trailing newline is dropped (rule C-3).
func (c *checker) secret(target *Secret, name, path string) {
	if path == "" {
		return
	}
	file := name + "-file"
	if *target != "" {
		c.add(name, "drop one of the two", "is set, and so is %s", c.spell(file))
		return
	}
	text, err := os.ReadFile(path) //nolint:gosec // the operator names the file
	if err != nil {
		c.add(file, "name a file that this user can read", "%v", err)
		return
	}
	value := strings.TrimSuffix(strings.TrimSuffix(string(text), "\n"), "\r")
	if value == "" {
		c.add(file, "write the value into the file", "%s is empty", path)
		return
	}
	*target = Secret(value)
}

func (c *checker) admin(s *Settings) {
	given := "admin-password"
	if s.AdminPasswordFile != "" {
		given = "admin-password-file"
	}
	switch {
	case s.AdminEmail == "" && (s.AdminPassword != "" || s.AdminPasswordFile != ""):
		c.add(given, "add "+c.sibling("admin-email", given)+", or drop the password", "there is no e-mail address to go with it")
	case s.AdminEmail != "" && s.AdminPassword == "" && s.AdminPasswordFile == "":
		c.add("admin-email", "add "+c.sibling("admin-password-file", "admin-email")+", or drop the address", "there is no password to go with it")
	case s.AdminEmail != "":
		if a, err := mail.ParseAddress(s.AdminEmail); err != nil || a.Address != s.AdminEmail {
			c.add("admin-email", "write it like ada@example.com", "%q is no e-mail address", s.AdminEmail)
		}
	}
}

// sibling spells a setting the way another one was stated.
func (c *checker) sibling(name, like string) string {
	if strings.HasPrefix(string(c.origins[like]), "env ") {
		return EnvName(name)
	}
	if strings.HasPrefix(string(c.origins[like]), "file ") {
		return keyName(name)
	}
	return "--" + name
}

func (c *checker) tls(s *Settings) {
	switch {
	case s.TLSCert != "" && s.TLSKey == "":
		c.add("tls-cert", "add "+c.sibling("tls-key", "tls-cert"), "there is no key to go with it")
	case s.TLSKey != "" && s.TLSCert == "":
		c.add("tls-key", "add "+c.sibling("tls-cert", "tls-key"), "there is no certificate to go with it")
	}
	if s.AdminAddr != "" && s.AdminAddr == s.Addr && s.Addr.Port() != 0 {
		c.add("admin-addr", "choose another port, or drop it: one address serves everything", "is the same address as %s", c.spell("addr"))
	}
}

func (c *checker) redis(s *Settings) {
	if s.RedisURL != "" && len(s.RedisAddrs) > 0 {
		c.add("redis-addrs", "drop one of the two", "is set, and so is %s", c.spell("redis-url"))
	}
	if s.RedisMaster != "" && len(s.RedisAddrs) == 0 {
		c.add("redis-master", "add "+c.sibling("redis-addrs", "redis-master")+" with the Sentinels' addresses", "there is no Sentinel to ask")
	}
	if s.RedisMaster != "" && s.RedisCluster {
		c.add("redis-cluster", "drop one of the two", "a cluster has no %s", c.spell("redis-master"))
	}
	c.redisBounds(s)
	c.redisForm(s)
}

// redisForm finds addresses that cannot be read, as the start does.
func (c *checker) redisForm(s *Settings) {
	const fix = "write redis://[user:password@]host[:port][/db], rediss://… for TLS, or host:port"
	place := redisstore.Config{Master: s.RedisMaster, Cluster: s.RedisCluster, Addrs: s.RedisAddrs}
	name := "redis-addrs"
	if s.RedisURL != "" {
		place.Addrs, name = []string{s.RedisURL.Reveal()}, "redis-url"
		if s.RedisURLFile != "" {
			name = "redis-url-file"
		}
	}
	if len(place.Addrs) == 0 || s.RedisMaster != "" && s.RedisCluster {
		return
	}
	if err := place.Validate(); err != nil {
		c.add(name, fix, "%s", oneLine(err))
		return
	}
	if place.TLSCA = s.RedisTLSCA; place.Validate() != nil {
		c.add("redis-tls-ca", "name a file of PEM certificates that this user can read", "%s", oneLine(place.Validate()))
	}
	if place.TLSCA, place.PoolSize = "", int(s.RedisPoolSize); place.Validate() != nil {
		c.add("redis-pool-size", "", "%s", oneLine(place.Validate()))
	}
}

// oneLine is the text of errors that were joined.
func oneLine(err error) string { return strings.ReplaceAll(plainReason(err), "\n", "; ") }

func (c *checker) redisBounds(s *Settings) {
	if s.RedisBatchFlights < 2 || s.RedisBatchFlights > 8 {
		c.add("redis-batch-flights", "", "%d is out of bounds: write a number from 2 to 8", s.RedisBatchFlights)
	}
	if b := time.Duration(s.RedisBudget); b < time.Millisecond || b > 2*time.Second {
		c.add("redis-budget", "", "%s is out of bounds: write a time from 1ms to 2s", s.RedisBudget)
	}
	if p := time.Duration(s.RedisProbeInterval); p < 10*time.Millisecond || p > time.Minute {
		c.add("redis-probe-interval", "", "%s is out of bounds: write a time from 10ms to 1m", s.RedisProbeInterval)
	}
}

func (c *checker) limits(s *Settings) {
	if slices.Contains(s.ShieldHeaders, "draft") && slices.Contains(s.ShieldHeaders, "split") {
		c.add("shield-headers", "choose one of them", "draft and split name the same thing in two ways")
	}
	if len(s.ShieldHeaders) > 1 && slices.Contains(s.ShieldHeaders, "none") {
		c.add("shield-headers", "drop it, or everything else", "none stands alone")
	}
	if among(s.ShieldHeaders, "x", "x-github", "x-delta") > 1 {
		c.add("shield-headers", "choose one of them", "x, x-github and x-delta use the same names")
	}
	if s.ShieldKeyPrefix == "" || strings.ContainsAny(s.ShieldKeyPrefix, "{} \t\r\n") {
		c.add("shield-key-prefix", "write letters, digits, - and :", "%q is no key prefix", s.ShieldKeyPrefix)
	}
	if s.JournalAge < Duration(time.Second) {
		c.add("journal-age", "write 1s or more, or a journal-count of 0 to record nothing", "%s is too short to work with", s.JournalAge)
	}
	for _, b := range []struct {
		name  string
		value int64
		least int64
	}{
		{"shield-max-keys", int64(s.ShieldMaxKeys), 1},
		{"shield-max-bytes", int64(s.ShieldMaxBytes), 1 << 16},
		{"journal-bytes", int64(s.JournalBytes), 1 << 10},
		{"max-body", int64(s.MaxBody), 1},
		{"max-target", int64(s.MaxTarget), 256},
		{"max-header", int64(s.MaxHeader), 8 << 10},
	} {
		if b.value < b.least {
			c.add(b.name, fmt.Sprintf("write %d or more", b.least), "%d is too small to work with", b.value)
		}
	}
}

// excluded finds paths that no request has.
func (c *checker) excluded(s *Settings) {
	for _, p := range s.ShieldExclude {
		if !strings.HasPrefix(p, "/") || strings.ContainsAny(p, "? ") || strings.Contains(strings.TrimSuffix(p, "*"), "*") {
			c.add("shield-exclude", "write paths such as /healthz, or /m/demo/* for all that begins so", "%q is no path", p)
		}
	}
}

// algorithms finds limits that the default algorithm cannot keep, such as one with more requests than a log remembers.
func (c *checker) algorithms(s *Settings) {
	for _, l := range s.places() {
		if err := serveable(l.limit.By(s.ShieldAlgorithm).Policies); err != nil {
			c.add(l.setting, "name another algorithm in the limit, such as algorithm=fixed_window",
				"does not go with %s %s: %s", c.spell("shield-algorithm"), s.ShieldAlgorithm, ruleReason(err))
		}
	}
}

// among counts the dialects of a list that are one of these.
func among(list []Dialect, these ...Dialect) int {
	n := 0
	for _, d := range list {
		if slices.Contains(these, d) {
			n++
		}
	}
	return n
}
