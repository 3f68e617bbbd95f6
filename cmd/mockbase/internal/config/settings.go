// Package config is the table of settings: their names, defaults and meanings, and where each value came from.
//
// # Three spellings
//
// A setting is a field with a kong tag below. Its flag is the tag's name (--public-url), and the variable
// (MOCKBASE_PUBLIC_URL) and the key of the configuration file (publicUrl) are made from it. A flag wins over the
// environment, the environment over the file, the file over the default (rule C-3).
//
// # Nothing is ignored
//
// A wrong value, an unknown key and a setting that this version does not act on are faults, and all of them are reported
// together. Variables are treated with more patience, because a machine may hold them for another version: an unknown one
// and one without effect are warnings (rule C-5).
package config

// Settings are all settings of the server (rule C-20).
type Settings struct {
	Listen    `embed:""`
	Data      `embed:""`
	Files     `embed:""`
	Limits    `embed:""`
	Client    `embed:""`
	Redis     `embed:""`
	Journal   `embed:""`
	Bounds    `embed:""`
	Team      `embed:""`
	Instance  `embed:""`
	Messages  `embed:""`
	FirstUser `embed:""`
	Provider  `embed:""`
}

// Listen is where and how the server is reached.
type Listen struct {
	Addr                 Address          `name:"addr" default:"127.0.0.1:8080" group:"listen" placeholder:"HOST:PORT" help:"Address to listen on; port 0 lets the system choose."`
	AdminAddr            Address          `name:"admin-addr" group:"listen" placeholder:"HOST:PORT" help:"Second address, which alone serves the management API and the pages; --addr keeps mocks and probes."`
	ListenProject        []ProjectAddress `name:"listen-project" group:"listen" placeholder:"SLUG=HOST:PORT" help:"Address that serves one project's mocks at /, and nothing else; may be repeated."`
	ProjectHost          []ProjectHost    `name:"project-host" group:"listen" placeholder:"SLUG=HOST" help:"Host name by which --addr serves one project's mocks at /; may be repeated."`
	PublicURL            BaseURL          `name:"public-url" group:"listen" placeholder:"URL" help:"Where clients reach this server, when a proxy stands in front; else derived from each request."`
	BasePath             BasePath         `name:"base-path" group:"listen" placeholder:"PATH" help:"Path that everything is served below, when a proxy passes on a part of its own; the probes stay at the root as well."`
	TLSCert              string           `name:"tls-cert" group:"listen" placeholder:"FILE" help:"Certificate chain in PEM; makes every listener HTTPS."`
	TLSKey               string           `name:"tls-key" group:"listen" placeholder:"FILE" help:"Private key of --tls-cert in PEM."`
	TLSSelfSigned        bool             `name:"tls-self-signed" group:"listen" help:"Make a certificate, for this machine's names and addresses, and keep it in the data directory; makes every listener HTTPS."`
	AllowedHosts         []string         `name:"allowed-hosts" group:"listen" placeholder:"HOST" help:"Host names the management API answers to; on a loopback address always only these and loopback names."`
	ManagementOrigins    []WebOrigin      `name:"management-origins" group:"listen" placeholder:"ORIGIN" help:"Web origins that may call the management API from a browser."`
	AllowInsecureCookies bool             `name:"allow-insecure-cookies" group:"listen" help:"Set the sign-in cookie over plain HTTP on other than loopback addresses as well."`
	AllowUpstream        []Network        `name:"allow-upstream" group:"listen" placeholder:"NET" help:"Addresses or networks that proxies and webhooks may call besides public ones."`
	ShutdownTimeout      Duration         `name:"shutdown-timeout" default:"10s" group:"listen" placeholder:"TIME" help:"How long running answers may take after SIGTERM."`
}

// Data is where everything is kept.
type Data struct {
	DataDir   string `name:"data-dir" default:"./mockbase-data" group:"data" placeholder:"DIR" help:"Folder of the database, the signing keys and the set-up code."`
	Ephemeral bool   `name:"ephemeral" group:"data" help:"Keep nothing: everything lives in memory and is lost at the end."`
}

// Files is how mocks are loaded from folders (rules C-22 and C-23).
type Files struct {
	Project Slug `name:"project" short:"p" group:"files" placeholder:"SLUG" help:"Project that the files' mocks belong to, whatever the files say."`
	Watch   bool `name:"watch" default:"true" negatable:"" group:"files" help:"Load files again when they change."`
}

// Limits is the shield.
type Limits struct {
	ShieldEnabled            bool          `name:"shield-enabled" default:"true" negatable:"" group:"limits" help:"Limit requests at all."`
	EngineLimit              Limit         `name:"engine-limit" default:"120/60s" group:"limits" placeholder:"N/TIME" help:"Calls of mocks for each client address; \"disabled\" for no limit."`
	ManagementLimit          Limit         `name:"management-limit" default:"60/60s" group:"limits" placeholder:"N/TIME" help:"Calls of the management API for each client address; \"disabled\" for no limit."`
	LoginLimit               Limit         `name:"login-limit" default:"10/60s" group:"limits" placeholder:"N/TIME" help:"Attempts to sign in for each client address; \"disabled\" for no limit."`
	ShieldTierUser           Limit         `name:"shield-tier-user" default:"0/60s" group:"limits" placeholder:"N/TIME" help:"Requests of each user, or address where nobody is signed in, to each endpoint; 0/60s for no limit."`
	ShieldTierEndpoint       Limit         `name:"shield-tier-endpoint" default:"0/60s" group:"limits" placeholder:"N/TIME" help:"Requests of all clients together to each endpoint; 0/60s for no limit."`
	ShieldTierGlobal         Limit         `name:"shield-tier-global" default:"0/60s" group:"limits" placeholder:"N/TIME" help:"Requests of all clients together to the whole server; 0/60s for no limit."`
	LoginBan                 Bans          `name:"login-ban" default:"5/10m ban=15m key=ip+account, 20/10m ban=1h key=ip" group:"limits" placeholder:"RULES" help:"How many failed attempts to sign in within which time ban for how long, for each client address, or each account that it tries; \"disabled\" for none."`
	ShieldAlgorithm          Algorithm     `name:"shield-algorithm" default:"fixed_window" group:"limits" placeholder:"NAME" help:"How limits count that name no algorithm of their own: fixed_window, sliding_window, sliding_log, token_bucket, leaky_bucket or gcra."`
	LimitStoreFailure        StoreFailure  `name:"limit-store-failure" default:"open" group:"limits" placeholder:"MODE" help:"What follows when the limiter's store fails: open (every request passes), memory (count in this process) or closed (503). Sign-in counts in memory unless closed."`
	ShieldKeyPrefix          string        `name:"shield-key-prefix" default:"ratelimit" group:"limits" placeholder:"TEXT" help:"First part of the limiter's keys in Redis."`
	ShieldHeaders            []Dialect     `name:"shield-headers" default:"draft" group:"limits" placeholder:"DIALECT" help:"Fields that tell clients their limit: draft, split, x, x-github, x-delta or none."`
	ShieldHeadersOn          HeadersOn     `name:"shield-headers-on" default:"denied" group:"limits" placeholder:"WHEN" help:"Which answers of mocks carry them: always, denied or never."`
	ShieldStatus             RefusalStatus `name:"shield-status" default:"429" group:"limits" placeholder:"STATUS" help:"Status of a refusal: 429, 420 or 503."`
	ShieldBody               RefusalBody   `name:"shield-body" default:"problem" group:"limits" placeholder:"KIND" help:"Body of a refusal: problem or text."`
	ShieldKey                ShieldKey     `name:"shield-key" default:"ip" group:"limits" placeholder:"KEY" help:"Who shares a count of mocks or of the management API: ip, global, token, header:Name, cookie:name, query:name, jwt:claim, path, endpoint, fingerprint, a list of these joined with +, or a template."`
	ShieldExclude            []string      `name:"shield-exclude" default:"/healthz,/readyz,/metrics" group:"limits" placeholder:"PATH" help:"Paths that are never counted; a * at the end stands for everything that begins so."`
	ShieldSafelist           []Listed      `name:"shield-safelist" group:"limits" placeholder:"WHO" help:"Who is never limited: addresses and networks, and paths that begin with /; a * at the end of a path stands for everything that begins so."`
	ShieldBlocklist          []Listed      `name:"shield-blocklist" group:"limits" placeholder:"WHO" help:"Who is always refused with 403, written like the safelist, which wins."`
	ShieldDryRun             bool          `name:"shield-dry-run" group:"limits" help:"Refuse nothing, and count and log what would be refused. Sign-in stays limited."`
	ShieldHashAddresses      bool          `name:"shield-hash-addresses" group:"limits" help:"Count by digests of client addresses, so that Redis and the log of refusals hold none."`
	ShieldLogMatches         LogMatches    `name:"shield-log-matches" default:"first" group:"limits" placeholder:"WHICH" help:"Which refusals are logged: first, of each client in each window, all or off."`
	ShieldMaxKeys            Count         `name:"shield-max-keys" default:"100000" group:"limits" placeholder:"N" help:"Most keys the limiter's memory holds."`
	ShieldMaxBytes           Bytes         `name:"shield-max-bytes" default:"64MiB" group:"limits" placeholder:"SIZE" help:"Most bytes the limiter's memory holds."`
	ShieldReadyRequiresStore bool          `name:"shield-ready-requires-store" group:"limits" help:"Answer 503 at /readyz while the limiter's store fails."`
	CircuitMode              CircuitMode   `name:"circuit-mode" default:"disabled" group:"limits" placeholder:"MODE" help:"Whom the circuit lets through while it is open: adaptive (who is signed in), lockdown (the safelist alone) or disabled (there is no circuit)."`
	CircuitThreshold         Rate          `name:"circuit-threshold" default:"10000/60s" group:"limits" placeholder:"N/TIME" help:"Requests of all clients above which the circuit opens."`
	CircuitRecovery          Duration      `name:"circuit-recovery" default:"30s" group:"limits" placeholder:"TIME" help:"How long the circuit stays open at first."`
	CircuitGlobalLimit       Rate          `name:"circuit-global-limit" default:"50000/60s" group:"limits" placeholder:"N/TIME" help:"Requests that the circuit lets through at most, whoever asks, in the same time as --circuit-threshold."`
	Adaptive                 Switch        `name:"adaptive" default:"off" group:"limits" placeholder:"on|off" help:"Lower limits while this process is overloaded."`
	AdaptiveMin              Share         `name:"adaptive-min" default:"0.1" group:"limits" placeholder:"SHARE" help:"Share of the limits that is left at least, 0.01 to 1."`
}

// Client is how the address of a client is found.
type Client struct {
	TrustedProxies      []Network     `name:"trusted-proxies" group:"client" placeholder:"NET" help:"Proxies whose forwarding header is believed, as addresses or networks."`
	ClientAddressHeader AddressHeader `name:"client-address-header" default:"x-forwarded-for" group:"client" placeholder:"NAME" help:"The one header that trusted proxies put the client's address in: x-forwarded-for, forwarded, a header with one address, or none."`
	ProxyProtocol       ProxyPeers    `name:"proxy-protocol" default:"off" group:"client" placeholder:"NET" help:"Balancers that must begin each connection with a PROXY protocol header, version 1 or 2, as addresses or networks; nobody else may. off for none."`
	IdentitySecret      Secret        `name:"identity-secret" group:"client" placeholder:"TEXT" help:"Makes digests of tokens and other secrets that requests are counted by; 16 bytes or more. Servers that share Redis must share it. Without one it is derived from the signing keys of the data directory."`
	IdentitySecretFile  string        `name:"identity-secret-file" group:"client" placeholder:"FILE" help:"File with the text of --identity-secret."`
	FingerprintLevel    Fingerprint   `name:"fingerprint-level" default:"normal" group:"client" placeholder:"LEVEL" help:"What the key fingerprint is made of: strict, normal, relaxed or custom."`
	FingerprintParts    []string      `name:"fingerprint-parts" group:"client" placeholder:"PART" help:"Parts of a custom fingerprint: address, user-agent, accept-language, accept-encoding, headers, auth, ja3 or header:Name."`
	JA3Header           HeaderName    `name:"ja3-header" default:"X-JA3-Fingerprint" group:"client" placeholder:"NAME" help:"Header in which trusted proxies tell the fingerprint of a client's TLS handshake."`
	IPv6Prefix          PrefixLength  `name:"ipv6-prefix" default:"64" group:"client" placeholder:"BITS" help:"Leading bits of an IPv6 address that make one client, 32 to 128."`
}

// Redis is the shared store of the limiter's counts.
type Redis struct {
	RedisURL           Secret   `name:"redis-url" group:"redis" placeholder:"URL" help:"Redis that holds the limiter's counts; empty for this process's memory."`
	RedisURLFile       string   `name:"redis-url-file" group:"redis" placeholder:"FILE" help:"File with the text of --redis-url."`
	RedisAddrs         []string `name:"redis-addrs" group:"redis" placeholder:"HOST:PORT" help:"Addresses in place of --redis-url: of a server, of Sentinels, or of a cluster's nodes."`
	RedisMaster        string   `name:"redis-master" group:"redis" placeholder:"NAME" help:"Name of the master that the Sentinels of --redis-addrs watch."`
	RedisCluster       bool     `name:"redis-cluster" group:"redis" help:"Treat --redis-url or --redis-addrs as a cluster."`
	RedisTLSCA         string   `name:"redis-tls-ca" group:"redis" placeholder:"FILE" help:"Certificates in PEM that sign the Redis server's."`
	RedisBudget        Duration `name:"redis-budget" default:"50ms" group:"redis" placeholder:"TIME" help:"Longest a check may wait for Redis, 1ms to 2s."`
	RedisPoolSize      Count    `name:"redis-pool-size" default:"0" group:"redis" placeholder:"N" help:"Most connections to each Redis server; 0 is ten for each processor."`
	RedisBatchFlights  Count    `name:"redis-batch-flights" default:"4" group:"redis" placeholder:"N" help:"Most batches of checks on their way to one Redis server at once, 2 to 8."`
	RedisLocalDenials  bool     `name:"redis-local-denials" default:"true" negatable:"" group:"redis" help:"Refuse a client that is known to be over its limit without asking Redis, for five seconds at most."`
	RedisProbeInterval Duration `name:"redis-probe-interval" default:"250ms" group:"redis" placeholder:"TIME" help:"How often a Redis that failed is tried again."`
}

// Journal bounds the record of requests, for each project.
type Journal struct {
	JournalCount Count    `name:"journal-count" default:"10000" group:"journal" placeholder:"N" help:"Most requests that are kept, for each project; 0 records nothing."`
	JournalBytes Bytes    `name:"journal-bytes" default:"64MiB" group:"journal" placeholder:"SIZE" help:"Most bytes that they take, for each project."`
	JournalAge   Duration `name:"journal-age" default:"24h" group:"journal" placeholder:"TIME" help:"How long they are kept."`
}

// Bounds are the largest requests on the mock plane.
type Bounds struct {
	MaxBody        Bytes   `name:"max-body" default:"10MiB" group:"bounds" placeholder:"SIZE" help:"Largest request body; more is 413."`
	MaxTarget      Bytes   `name:"max-target" default:"16KiB" group:"bounds" placeholder:"SIZE" help:"Longest request target; more is 414."`
	MaxHeader      Bytes   `name:"max-header" default:"64KiB" group:"bounds" placeholder:"SIZE" help:"Largest header block; more is 431."`
	FilesRoot      string  `name:"files-root" group:"bounds" placeholder:"DIR" help:"Folder of the files that mocks send by name; without it, only bodies that are part of the mocks."`
	BrowserSandbox Sandbox `name:"browser-sandbox" default:"on" group:"bounds" placeholder:"MODE" help:"Sandbox the pages that a browser opens from mocks: on, project (each project decides) or off."`
}

// Instance is how this server presents itself.
type Instance struct {
	Metrics Metrics `name:"metrics" default:"token" group:"instance" placeholder:"WHO" help:"Who may read /metrics: token (administrators, with an access token), public (everybody) or disabled (nobody)."`
	NoUI    bool    `name:"no-ui" group:"instance" help:"Serve no pages for people, save those that links to accounts lead to."`
}

// Messages is what the server says, and where.
type Messages struct {
	LogFormat LogFormat `name:"log-format" default:"auto" group:"messages" placeholder:"FORMAT" help:"Form of messages: text, json, or auto: text on a terminal and json elsewhere."`
	LogLevel  LogLevel  `name:"log-level" default:"info" group:"messages" placeholder:"LEVEL" help:"Least level of messages: debug, info, warn or error."`
	ReadyFile string    `name:"ready-file" group:"messages" placeholder:"FILE" help:"File that is written once everything answers, and removed at the end."`
	PortFile  string    `name:"port-file" group:"messages" placeholder:"FILE" help:"File that takes the bare port of --addr, and is removed at the end."`
	PrintURL  bool      `name:"print-url" group:"messages" help:"Write the server's URL to standard output, once."`
}

// FirstUser is the administrator that is made while there is no user (rule M-38).
type FirstUser struct {
	AdminEmail        string `name:"admin-email" group:"admin" placeholder:"ADDRESS" help:"E-mail address of the first administrator, made at start while there is no user."`
	AdminPassword     Secret `name:"admin-password" group:"admin" placeholder:"TEXT" help:"Password of the first administrator. Others can see a flag: prefer --admin-password-file."`
	AdminPasswordFile string `name:"admin-password-file" group:"admin" placeholder:"FILE" help:"File with the password of the first administrator."`
}

// Provider is how people sign in by an OpenID Connect provider (rule M-43).
type Provider struct {
	OIDCIssuer           string      `name:"oidc-issuer" group:"provider" placeholder:"URL" help:"OpenID Connect provider that people sign in by."`
	OIDCClientID         string      `name:"oidc-client-id" group:"provider" placeholder:"TEXT" help:"What the provider calls this server. Register <public URL>/api/v1/auth/oidc/callback there as the address to come back to."`
	OIDCClientSecret     Secret      `name:"oidc-client-secret" group:"provider" placeholder:"TEXT" help:"Secret that goes with --oidc-client-id. Others can see a flag: prefer --oidc-client-secret-file."`
	OIDCClientSecretFile string      `name:"oidc-client-secret-file" group:"provider" placeholder:"FILE" help:"File with the text of --oidc-client-secret."`
	OIDCScopes           []string    `name:"oidc-scopes" default:"email,profile" group:"provider" placeholder:"SCOPE" help:"What the provider is asked for besides openid; many want a scope of its own for groups."`
	OIDCGroupsClaim      string      `name:"oidc-groups-claim" default:"groups" group:"provider" placeholder:"NAME" help:"Claim that holds a person's groups."`
	OIDCRoles            []GroupRole `name:"oidc-roles" group:"provider" placeholder:"GROUP=ROLE" help:"What groups mean here: ops=admin, devs=member, qa=shop:editor. Without any, everybody whom the provider knows is a member; with some, nobody else signs in."`
	PasswordSignIn       bool        `name:"password-sign-in" default:"true" negatable:"" group:"provider" help:"Let people sign in with a password as well. An administrator's works anyhow while no administrator signs in by the provider."`
}
