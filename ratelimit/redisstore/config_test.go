package redisstore_test

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"github.com/mockbase/mockbase/ratelimit"
	"github.com/mockbase/mockbase/ratelimit/redisstore"
)

// secret must be found nowhere but in the options of a client.
const secret = "pa55-w0rd"

// options returns the options of a client's connections to one server.
func options(t *testing.T, client redis.UniversalClient) *redis.Options {
	t.Helper()
	switch c := client.(type) {
	case *redis.Client:
		return c.Options()
	case *redis.ClusterClient:
		o := c.Options()
		return &redis.Options{
			DialTimeout: o.DialTimeout, ReadTimeout: o.ReadTimeout, WriteTimeout: o.WriteTimeout, PoolTimeout: o.PoolTimeout,
			ContextTimeoutEnabled: o.ContextTimeoutEnabled, MaxRetries: o.MaxRetries, DialerRetries: o.DialerRetries,
			MinIdleConns: o.MinIdleConns, ConnMaxLifetime: o.ConnMaxLifetime, ConnMaxLifetimeJitter: o.ConnMaxLifetimeJitter,
			DisableIdentity: o.DisableIdentity, MaintNotificationsConfig: o.MaintNotificationsConfig, PoolSize: o.PoolSize,
			PipelinePoolSize: o.PipelinePoolSize, Username: o.Username, Password: o.Password, TLSConfig: o.TLSConfig,
		}
	default:
		t.Fatalf("client is a %T", client)
		return nil
	}
}

func dialClient(t *testing.T, c redisstore.Config) redis.UniversalClient {
	t.Helper()
	client, err := redisstore.Dial(c)
	if err != nil {
		t.Fatalf("dial %v: %v", c, err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return client
}

func TestRL47_RL48_every_kind_of_client_has_the_same_options(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		config redisstore.Config
		retry  int // -1 is read as "none", which a single client stores as 0.
	}{
		{"single", redisstore.Config{Addrs: []string{"127.0.0.1:1"}}, 0},
		{"sentinel", redisstore.Config{Addrs: []string{"127.0.0.1:1", "127.0.0.1:2"}, Master: "counters"}, 0},
		{"cluster of several addresses", redisstore.Config{Addrs: []string{"127.0.0.1:1", "127.0.0.1:2"}}, -1},
		{"cluster of one address", redisstore.Config{Addrs: []string{"127.0.0.1:1"}, Cluster: true}, -1},
	} {
		client := dialClient(t, c.config)
		o := options(t, client)
		const budget = 50 * time.Millisecond
		for _, option := range []struct {
			name      string
			got, want any
		}{
			{"DialTimeout", o.DialTimeout, 250 * time.Millisecond},
			{"ReadTimeout", o.ReadTimeout, budget},
			{"WriteTimeout", o.WriteTimeout, budget},
			{"PoolTimeout", o.PoolTimeout, budget},
			{"ContextTimeoutEnabled", o.ContextTimeoutEnabled, true},
			{"MaxRetries", o.MaxRetries, c.retry},
			{"DialerRetries", o.DialerRetries, 1},
			{"MinIdleConns", o.MinIdleConns, 2},
			{"ConnMaxLifetime", o.ConnMaxLifetime, 5 * time.Minute},
			{"ConnMaxLifetimeJitter", o.ConnMaxLifetimeJitter, 30 * time.Second},
			{"DisableIdentity", o.DisableIdentity, true},
			{"PoolSize", o.PoolSize, 10 * runtime.GOMAXPROCS(0)},
			{"PipelinePoolSize", o.PipelinePoolSize, -1},
			{"MaintNotifications", o.MaintNotificationsConfig.Mode, maintnotifications.ModeDisabled},
		} {
			if option.got != option.want {
				t.Errorf("%s: %s = %v, want %v", c.name, option.name, option.got, option.want)
			}
		}
		if cluster, ok := client.(*redis.ClusterClient); ok && cluster.Options().MaxRedirects != 3 {
			t.Errorf("%s: MaxRedirects = %d, want 3", c.name, cluster.Options().MaxRedirects)
		}
	}
}

func TestRL47_addresses_say_who_signs_in_where(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(file, []byte("from a file\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	type signIn struct {
		addr, user, password string
		db                   int
		tls                  bool
	}
	for _, c := range []struct {
		name   string
		config redisstore.Config
		want   signIn
	}{
		{"host and port", redisstore.Config{Addrs: []string{"redis.example:6380"}}, signIn{addr: "redis.example:6380"}},
		{"blanks around it", redisstore.Config{Addrs: []string{" redis.example:6380 "}}, signIn{addr: "redis.example:6380"}},
		{"IPv6", redisstore.Config{Addrs: []string{"[::1]:6380"}}, signIn{addr: "[::1]:6380"}},
		{"URL without a port", redisstore.Config{Addrs: []string{"redis://redis.example"}}, signIn{addr: "redis.example:6379"}},
		{
			"URL with all there is",
			redisstore.Config{Addrs: []string{"rediss://app:p%40ss@redis.example:6380/3"}},
			signIn{addr: "redis.example:6380", user: "app", password: "p@ss", db: 3, tls: true},
		},
		{"socket", redisstore.Config{Addrs: []string{"unix://app:x@/run/redis.sock?db=2"}}, signIn{addr: "/run/redis.sock", user: "app", password: "x", db: 2}},
		{
			"options win over the URL",
			redisstore.Config{Addrs: []string{"redis://app:x@redis.example/3"}, Username: "other", Password: "y", DB: 4},
			signIn{addr: "redis.example:6379", user: "other", password: "y", db: 4},
		},
		{
			"a file wins over all",
			redisstore.Config{Addrs: []string{"redis://app:x@redis.example"}, Password: "y", PasswordFile: file},
			signIn{addr: "redis.example:6379", user: "app", password: "from a file"},
		},
	} {
		o := options(t, dialClient(t, c.config))
		got := signIn{addr: o.Addr, user: o.Username, password: o.Password, db: o.DB, tls: o.TLSConfig != nil}
		if got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}

func TestRL47_what_cannot_work_is_said_at_once_and_without_secrets(t *testing.T) {
	t.Parallel()
	noPEM := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(noPEM, []byte("no certificate"), 0o600); err != nil {
		t.Fatal(err)
	}
	one := []string{"127.0.0.1:6379"}
	for _, c := range []struct {
		name   string
		config redisstore.Config
		want   []string
	}{
		{"no address", redisstore.Config{}, []string{"no address", "redis://[user:password@]host[:port][/db]"}},
		{"no port", redisstore.Config{Addrs: []string{"redis.example"}}, []string{"address 1: want host:port"}},
		{"another scheme", redisstore.Config{Addrs: []string{"http://app:" + secret + "@redis.example"}}, []string{"address 1: want"}},
		{"a slash in the password", redisstore.Config{Addrs: []string{"redis://app:/" + secret + "@redis.example"}}, []string{"percent-encoded"}},
		{"a percent sign in the password", redisstore.Config{Addrs: []string{"redis://app:%zz" + secret + "@redis.example"}}, []string{"percent-encoded"}},
		{"credentials without a scheme", redisstore.Config{Addrs: []string{"app:" + secret + "@redis.example:6379"}}, []string{"address 1: want"}},
		{"a database that is no number", redisstore.Config{Addrs: []string{"redis://:" + secret + "@redis.example/x"}}, []string{"address 1: want"}},
		{"options in the URL", redisstore.Config{Addrs: []string{"redis://:" + secret + "@redis.example?max_retries=3"}}, []string{`"max_retries" is not accepted`}},
		{"no such password file", redisstore.Config{Addrs: one, PasswordFile: "/nowhere/password"}, []string{"read password file", "/nowhere/password"}},
		{"no such CA", redisstore.Config{Addrs: one, TLSCA: "/nowhere/ca.pem"}, []string{"read TLS CA", "/nowhere/ca.pem"}},
		{"no certificate in the CA", redisstore.Config{Addrs: one, TLSCA: noPEM}, []string{"no PEM certificate"}},
		{"budget too small", redisstore.Config{Addrs: one, Budget: time.Microsecond}, []string{"budget 1µs is not in 1ms…2s"}},
		{"budget negative", redisstore.Config{Addrs: one, Budget: -1}, []string{"budget"}},
		{"budget too large", redisstore.Config{Addrs: one, Budget: 3 * time.Second}, []string{"budget 3s"}},
		{"pool size", redisstore.Config{Addrs: one, PoolSize: -1}, []string{"pool size -1"}},
		{"a cluster behind sentinels", redisstore.Config{Addrs: one, Master: "counters", Cluster: true}, []string{"not both"}},
		{"a database of a cluster", redisstore.Config{Addrs: one, Cluster: true, DB: 1}, []string{"database 0 only"}},
		{"a negative database", redisstore.Config{Addrs: one, DB: -1}, []string{"database -1"}},
		{"several at once", redisstore.Config{Addrs: []string{"x", "y"}, Budget: -1, PoolSize: -1}, []string{"address 1", "address 2", "budget", "pool size"}},
	} {
		c.config.Username, c.config.SentinelPassword = "app", secret
		_, err := redisstore.Dial(c.config)
		if !errors.Is(err, ratelimit.ErrConfig) {
			t.Errorf("%s: %v, want ErrConfig", c.name, err)
			continue
		}
		for _, text := range c.want {
			if !strings.Contains(err.Error(), text) {
				t.Errorf("%s: %v\nwant it to say %q", c.name, err, text)
			}
		}
		if strings.Contains(err.Error(), secret) {
			t.Errorf("%s: the error tells the password: %v", c.name, err)
		}
	}
	for name, o := range map[string]redisstore.Options{
		"prefix":   {Config: redisstore.Config{Addrs: one}, Prefix: "a b"},
		"interval": {Config: redisstore.Config{Addrs: one}, ProbeInterval: -1},
		"config":   {},
	} {
		if _, err := redisstore.New(o); !errors.Is(err, ratelimit.ErrConfig) {
			t.Errorf("new store with a wrong %s: %v, want ErrConfig", name, err)
		}
	}
}

func TestConfig_prints_without_its_secrets(t *testing.T) {
	t.Parallel()
	c := redisstore.Config{
		Addrs:    []string{"rediss://app:" + secret + "@one.example:6380/0", "two.example:6380", "redis://:%zz" + secret + "@x"},
		Password: secret, SentinelPassword: secret,
	}
	const want = "cluster one.example:6380,two.example:6380,(unreadable)"
	var log bytes.Buffer
	slog.New(slog.NewJSONHandler(&log, nil)).Info("configured", "redis", c)
	for _, text := range []string{c.String(), fmt.Sprint(c), fmt.Sprintf("%+v", c), fmt.Sprintf("%#v", c), log.String()} {
		if strings.Contains(text, secret) || !strings.Contains(text, want) {
			t.Errorf("printed as %q, want %q in it", text, want)
		}
	}
	c.Master = "counters"
	if got := c.String(); !strings.HasPrefix(got, "master counters of sentinels one.example:6380,") {
		t.Errorf("with a master: %q", got)
	}
	if got := (redisstore.Config{Addrs: []string{"one.example:1"}}).String(); got != "one.example:1" {
		t.Errorf("single: %q", got)
	}
}

func FuzzConfig_reads_every_address_or_none(f *testing.F) {
	for _, seed := range []string{
		"127.0.0.1:6379", "redis://app:x@host:1/2", "rediss://host", "unix:///run/redis.sock?db=1", "redis://", "://", "redis://a:b/c@d",
		"redis://[::1", "redis://:%@x", "host", "a@b:1", "redis://h/1/2", "redis://h?db=x", "redis://h?pool_size=1", "\x00", "unix://",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, addr string) {
		const marked = "s3cr3t-of-nobody"
		for _, text := range []string{addr, strings.Replace(addr, "@", marked+"@", 1)} {
			c := redisstore.Config{Addrs: []string{text}}
			client, err := redisstore.Dial(c)
			switch {
			case err == nil:
				_ = client.Close()
			case !errors.Is(err, ratelimit.ErrConfig):
				t.Errorf("%q: %v, want ErrConfig", text, err)
			case text != addr && strings.Contains(err.Error(), marked):
				t.Errorf("%q: the error tells the password: %v", text, err)
			}
			if text != addr && err != nil && strings.Contains(c.String(), marked) {
				t.Errorf("%q prints as %q", text, c)
			}
		}
	})
}
