package redisstore

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"github.com/mockbase/mockbase/ratelimit"
)

// DefaultBudget is the time that one check may take if Config.Budget is zero (rule RL49). On one network Redis answers
// within a millisecond; a request that waits for 50 is one whose caller has not noticed yet.
const DefaultBudget = 50 * time.Millisecond

// The options of every client (rule RL48); the defaults of the library are made for data, not for a limiter that must
// answer in any case.
const (
	minBudget = time.Millisecond
	maxBudget = 2 * time.Second

	dialTimeout      = 250 * time.Millisecond
	minIdleConns     = 2
	connsPerCPU      = 10
	connLifetime     = 5 * time.Minute
	connLifetimeSway = 30 * time.Second
	maxRedirects     = 3
	maxPoolSize      = 10_000
)

// acceptedForms is the hint of every connection string that cannot be read.
const acceptedForms = "want host:port, redis://[user:password@]host[:port][/db], rediss://… for TLS, or " +
	"unix://[user:password@]/path/to/socket[?db=n], with / @ : # ? and % in a password percent-encoded"

// Config says where Redis is and how to sign in. It prints without its secrets.
type Config struct {
	// Addrs are host:port, redis://, rediss:// or unix:// addresses: one of a single server, several of the nodes of a
	// cluster, or those of the sentinels if Master is set. Credentials, database and TLS in one of them hold for the servers behind all.
	Addrs []string
	// Master is the name of the master that the sentinels at Addrs watch.
	Master string
	// Cluster makes a single address the entry to a cluster.
	Cluster bool
	// Username, Password and DB win over those in Addrs. Password is not needed if PasswordFile is set.
	Username, Password string
	// PasswordFile is read at each Dial; a line feed at its end does not count.
	PasswordFile string
	// SentinelUsername and SentinelPassword sign in to the sentinels themselves.
	SentinelUsername, SentinelPassword string
	DB                                 int
	// TLSCA is a file of PEM certificates to trust instead of the system's. It switches TLS on.
	TLSCA string
	// Budget is the time that one check may take, 1 ms to 2 s; 0 is DefaultBudget.
	Budget time.Duration
	// PoolSize is the largest number of connections to one server; 0 is 10 for each processor.
	PoolSize int
}

// Dial makes a client with the options that a limiter needs (rules RL47, RL48): one address is a single server, a master
// name is Sentinel, several addresses or Cluster are a cluster. It speaks to nobody yet. What is wrong with the
// configuration is reported in one error that wraps ratelimit.ErrConfig and holds no secret.
func Dial(c Config) (redis.UniversalClient, error) {
	t, err := c.resolve()
	if err != nil {
		return nil, err
	}
	return t.dial(), nil
}

// Validate reports all that is wrong with the configuration, as Dial does.
func (c Config) Validate() error {
	_, err := c.resolve()
	return err
}

// String names the servers without credentials.
func (c Config) String() string {
	addrs := make([]string, 0, len(c.Addrs))
	for _, addr := range c.Addrs {
		o, err := parseAddr(addr)
		if err != nil {
			addrs = append(addrs, "(unreadable)")
			continue
		}
		addrs = append(addrs, o.Addr)
	}
	list := strings.Join(addrs, ",")
	switch {
	case c.Master != "":
		return "master " + c.Master + " of sentinels " + list
	case c.Cluster || len(addrs) > 1:
		return "cluster " + list
	default:
		return list
	}
}

// GoString is String, so that no verb of fmt prints a secret.
func (c Config) GoString() string { return "redisstore.Config{" + c.String() + "}" }

// LogValue is String.
func (c Config) LogValue() slog.Value { return slog.StringValue(c.String()) }

// target is a configuration that was found good.
type target struct {
	// name is the configuration without secrets, for messages.
	name    string
	cluster bool
	budget  time.Duration
	options redis.UniversalOptions
	scripts scripts
}

// resolve checks the whole configuration and reports all its faults at once.
func (c Config) resolve() (*target, error) {
	o := redis.UniversalOptions{
		MasterName: c.Master, IsClusterMode: c.Cluster,
		SentinelUsername: c.SentinelUsername, SentinelPassword: c.SentinelPassword,
		PoolSize: c.PoolSize,
	}
	t := &target{
		name: c.String(), budget: cmp.Or(c.Budget, DefaultBudget), scripts: newScripts(),
		cluster: c.Cluster || c.Master == "" && len(c.Addrs) > 1,
	}
	// The database is judged last, because the addresses may state it.
	faults := errors.Join(c.addresses(&o), c.credentials(&o), trust(&o, c.TLSCA), t.numbers(&o), t.kind(&o))
	if faults != nil {
		return nil, fmt.Errorf("configure redis: %w: %w", faults, ratelimit.ErrConfig)
	}
	applyLimits(&o, t.budget)
	t.options = o
	return t, nil
}

func (c Config) addresses(o *redis.UniversalOptions) error {
	if len(c.Addrs) == 0 {
		return errors.New("no address: " + acceptedForms)
	}
	var faults error
	for i, addr := range c.Addrs {
		if err := addAddr(o, addr); err != nil {
			faults = errors.Join(faults, fmt.Errorf("address %d: %w", i+1, err))
		}
	}
	return faults
}

func (c Config) credentials(o *redis.UniversalOptions) error {
	o.Username = cmp.Or(c.Username, o.Username)
	o.Password = cmp.Or(c.Password, o.Password)
	o.DB = cmp.Or(c.DB, o.DB)
	if c.PasswordFile == "" {
		return nil
	}
	text, err := os.ReadFile(c.PasswordFile)
	if err != nil {
		return fmt.Errorf("read password file: %w", err)
	}
	o.Password = strings.TrimRight(string(text), "\r\n")
	return nil
}

// numbers judges the bounds.
func (t *target) numbers(o *redis.UniversalOptions) error {
	var faults error
	if t.budget < minBudget || t.budget > maxBudget {
		faults = fmt.Errorf("budget %s is not in %s…%s", t.budget, minBudget, maxBudget)
	}
	if o.PoolSize < 0 || o.PoolSize > maxPoolSize {
		faults = errors.Join(faults, fmt.Errorf("pool size %d is not in 0…%d", o.PoolSize, maxPoolSize))
	}
	return faults
}

// kind judges what does not go together.
func (t *target) kind(o *redis.UniversalOptions) error {
	switch {
	case t.cluster && o.MasterName != "":
		return errors.New("a cluster has no sentinels: give a master name or cluster, not both")
	case t.cluster && o.DB != 0:
		return fmt.Errorf("database %d: a cluster has database 0 only", o.DB)
	case o.DB < 0:
		return fmt.Errorf("database %d is negative", o.DB)
	default:
		return nil
	}
}

// applyLimits sets the options of rule RL48.
func applyLimits(o *redis.UniversalOptions, budget time.Duration) {
	if o.PoolSize == 0 {
		o.PoolSize = connsPerCPU * runtime.GOMAXPROCS(0)
	}
	o.DialTimeout = dialTimeout
	o.ReadTimeout, o.WriteTimeout, o.PoolTimeout = budget, budget, budget
	o.ContextTimeoutEnabled = true
	o.MaxRetries = -1 // A retry after a timeout would count one check again.
	o.DialerRetries = 1
	o.MinIdleConns = min(minIdleConns, o.PoolSize)
	o.ConnMaxLifetime = connLifetime // Leaves demoted replicas behind an address that stays the same.
	o.ConnMaxLifetimeJitter = connLifetimeSway
	o.DisableIdentity = true
	o.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
	o.MaxRedirects = maxRedirects // What was redirected was not executed.
	// The library's pool for pipelines never holds idle connections, so that MinIdleConns would not help a single
	// check: all of them are pipelines. A negative size puts them on the pool that does.
	o.PipelinePoolSize = -1
}

// addAddr adds one address to the options, and what it says about credentials, database and TLS.
func addAddr(o *redis.UniversalOptions, addr string) error {
	parsed, err := parseAddr(addr)
	if err != nil {
		return err
	}
	o.Addrs = append(o.Addrs, parsed.Addr)
	if parsed.Username != "" {
		o.Username = parsed.Username
	}
	if parsed.Password != "" {
		o.Password = parsed.Password
	}
	if parsed.DB != 0 {
		o.DB = parsed.DB
	}
	if parsed.TLSConfig != nil {
		// Without a name of its own the handshake checks the name of the server that it was made to.
		o.TLSConfig = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	return nil
}

// parseAddr reads one address. Its error never quotes it, since what looks like a host may be half of a password.
func parseAddr(addr string) (*redis.Options, error) {
	addr = strings.TrimSpace(addr)
	if !strings.Contains(addr, "://") {
		host, port, err := net.SplitHostPort(addr)
		if err != nil || !isPort(port) || strings.ContainsAny(host, "@/") {
			return nil, errors.New(acceptedForms)
		}
		return &redis.Options{Addr: addr}, nil
	}
	o, err := redis.ParseURL(addr)
	if err != nil {
		return nil, errors.New(acceptedForms)
	}
	parsed, err := url.Parse(addr)
	if err != nil {
		return nil, errors.New(acceptedForms)
	}
	if parsed.Port() != "" && !isPort(parsed.Port()) {
		return nil, errors.New("the port is no number from 1 to 65535: " + acceptedForms)
	}
	for name := range parsed.Query() {
		if name != "db" {
			return nil, fmt.Errorf("the parameter %q is not accepted: the options of the client are fixed", name)
		}
	}
	return o, nil
}

func isPort(text string) bool {
	n, err := strconv.ParseUint(text, 10, 16)
	return err == nil && n > 0
}

// trust makes the client trust the certificates in a file, if one is named, and no others.
func trust(o *redis.UniversalOptions, file string) error {
	if file == "" {
		return nil
	}
	text, err := os.ReadFile(file) // #nosec G304 -- the operator names the file
	if err != nil {
		return fmt.Errorf("read TLS CA: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		return fmt.Errorf("read TLS CA: no PEM certificate in %s", file)
	}
	if o.TLSConfig == nil {
		o.TLSConfig = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	o.TLSConfig.RootCAs = pool
	return nil
}

// limit gives a check its budget (rule RL49). It is the check's own: a client that hangs up does not undo its count.
func (t *target) limit(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), t.budget)
}

// share sets as many connections aside as batches may be on their way at once, and returns how many those are.
func (t *target) share(flights int) int {
	flights = min(flights, t.options.PoolSize)
	t.options.MinIdleConns = max(t.options.MinIdleConns, flights)
	return flights
}

func (t *target) dial() redis.UniversalClient {
	o := t.options // Each client keeps, and fills in, options of its own.
	o.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
	return redis.NewUniversalClient(&o)
}

// dialProbe makes a client for probes: the same, with one connection and that only when it is asked for. The pool is
// larger by one because a pool whose dials fail as often as it is large goes on dialling by itself.
func (t *target) dialProbe() redis.UniversalClient {
	o := t.options
	o.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
	o.MinIdleConns, o.PoolSize = 0, 2
	return redis.NewUniversalClient(&o)
}
