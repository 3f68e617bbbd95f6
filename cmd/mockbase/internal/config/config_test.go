package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/google/go-cmp/cmp"

	"github.com/mockbase/mockbase/cmd/mockbase/internal/config"
	"github.com/mockbase/mockbase/ratelimit/guard"
)

// reading is the outcome of a command line, an environment and a file together.
type reading struct {
	settings config.Settings
	origins  map[string]config.Origin
	faults   []string
	warnings []string
}

func read(t *testing.T, file string, environ []string, args ...string) reading {
	t.Helper()
	path := ""
	if file != "" {
		path = "mockbase.yaml"
		t.Chdir(t.TempDir())
		if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var got reading
	reader, err := config.NewReader(environ, path)
	if err != nil {
		t.Fatal(err)
	}
	parser, err := kong.New(&got.settings, kong.Resolvers(reader), kong.ExplicitGroups(config.Groups()))
	if err != nil {
		t.Fatal(err)
	}
	command, err := parser.Parse(args)
	if err != nil {
		t.Fatal(err)
	}
	got.origins = reader.Note(command)
	for _, f := range append(reader.Faults(), got.settings.Check(got.origins)...) {
		got.faults = append(got.faults, f.String())
	}
	for _, w := range reader.Warnings() {
		got.warnings = append(got.warnings, w.String())
	}
	return got
}

func TestC3_a_flag_wins_over_a_variable_over_the_file_over_the_default(t *testing.T) {
	file := "\naddr: 127.0.0.1:1\nmaxBody: 1MiB\njournalCount: 7\nallowedHosts: [a.test, b.test]\n"
	environ := []string{"MOCKBASE_ADDR=127.0.0.1:2", "MOCKBASE_MAX_BODY=2MiB", "MOCKBASE_LOG_LEVEL="}
	got := read(t, file, environ, "--addr=127.0.0.1:3")
	if len(got.faults) > 0 {
		t.Fatal(got.faults)
	}
	s := got.settings
	if s.Addr != "127.0.0.1:3" || s.MaxBody != 2<<20 || s.JournalCount != 7 || s.LogLevel != "info" {
		t.Errorf("addr %s, body %d, count %d, level %s", s.Addr, s.MaxBody, s.JournalCount, s.LogLevel)
	}
	if diff := cmp.Diff([]string{"a.test", "b.test"}, s.AllowedHosts); diff != "" {
		t.Error(diff)
	}
	for name, want := range map[string]config.Origin{
		"addr": "flag", "max-body": "env MOCKBASE_MAX_BODY", "journal-count": "file mockbase.yaml:4",
		"allowed-hosts": "file mockbase.yaml:5", "log-level": "default", "data-dir": "default",
	} {
		if got.origins[name] != want {
			t.Errorf("%s comes from %q, want %q", name, got.origins[name], want)
		}
	}
}

func TestC3_every_setting_has_three_spellings_and_an_empty_variable_is_unset(t *testing.T) {
	t.Parallel()
	table, err := config.Table()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, s := range table {
		if s.Meaning == "" || !strings.HasSuffix(s.Meaning, ".") {
			t.Errorf("%s has no sentence that says what it is", s.Name)
		}
		if s.Group == "" {
			t.Errorf("%s is in no group", s.Name)
		}
		for _, name := range []string{s.Name, s.Env, s.Key} {
			if seen[name] && strings.Contains(name, "-") {
				t.Errorf("%s is there twice", name)
			}
			seen[name] = true
		}
	}
	for _, row := range [][3]string{
		{"public-url", "MOCKBASE_PUBLIC_URL", "publicUrl"},
		{"tls-cert", "MOCKBASE_TLS_CERT", "tlsCert"},
		{"ipv6-prefix", "MOCKBASE_IPV6_PREFIX", "ipv6Prefix"},
		{"shield-max-keys", "MOCKBASE_SHIELD_MAX_KEYS", "shieldMaxKeys"},
	} {
		for _, name := range row {
			if !seen[name] {
				t.Errorf("%s is missing", name)
			}
		}
	}
}

func TestC3_a_secret_comes_from_its_file_without_the_last_newline(t *testing.T) {
	t.Parallel()
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("correct horse battery\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	got := read(t, "", []string{"MOCKBASE_ADMIN_EMAIL=a@b.test", "MOCKBASE_ADMIN_PASSWORD_FILE=" + secret})
	if len(got.faults) > 0 {
		t.Fatal(got.faults)
	}
	if got.settings.AdminPassword.Reveal() != "correct horse battery" || got.settings.AdminPassword.String() != "(set)" {
		t.Errorf("%q shown as %s", got.settings.AdminPassword.Reveal(), got.settings.AdminPassword)
	}
}

func TestC5_what_is_unknown_is_named_with_the_nearest_name(t *testing.T) {
	got := read(t, "log-level: info\nmaxBdy: 1MiB\n\naddress: \":1\"\ntlsSelfSigned: /srv\nlogLevel: inof\nengineLimit: [1/s, {a: b}]\n",
		[]string{"MOCKBASE_ADRR=:1", "MOCKBASE_PROJECT_HOST=/mocks", "MOCKBASE_CONFIG=x", "MOCKBASE_QWERTYUIOP=1", "HOME=/", "MOCKBASE_REDIS_BUDGET=quick"})
	want := []string{
		`mockbase.yaml:1:1: unknown key "log-level", did you mean "logLevel"? [unknown_key]`,
		`mockbase.yaml:2:1: unknown key "maxBdy", did you mean "maxBody"? [unknown_key]`,
		`mockbase.yaml:4:1: unknown key "address", did you mean "addr"? [unknown_key]`,
		`mockbase.yaml:5:16: tlsSelfSigned: bool value must be true, 1, yes, false, 0 or no but got "/srv" [pattern]`,
		`mockbase.yaml:6:11: logLevel: unknown value "inof", did you mean "info"? [pattern]`,
		`mockbase.yaml:7:1: engineLimit: wants a value or a list of values, not an object [type]`,
		`MOCKBASE_PROJECT_HOST: "/mocks" names no project: write it like shop=shop.test`,
		`MOCKBASE_REDIS_BUDGET: "quick" is no duration: write a number with a unit, such as 250ms, 1.5s, 2m, 1h, 7d or 1m30s`,
	}
	if diff := cmp.Diff(want, got.faults); diff != "" {
		t.Error(diff)
	}
	wantWarnings := []string{
		"unknown variable MOCKBASE_ADRR, did you mean MOCKBASE_ADDR?",
		"unknown variable MOCKBASE_QWERTYUIOP",
	}
	if diff := cmp.Diff(wantWarnings, got.warnings); diff != "" {
		t.Error(diff)
	}
}

func TestC6_values_are_read_the_way_people_write_them(t *testing.T) {
	t.Parallel()
	tests := []struct {
		variable string
		// fault is part of what is said about it, "" if it is right.
		fault string
		// text is the value as it is shown again.
		text func(*config.Settings) any
		want string
	}{
		{variable: "MOCKBASE_ADDR=:0", text: func(s *config.Settings) any { return s.Addr }, want: ":0"},
		{variable: "MOCKBASE_ADDR=8080", fault: "write host:port"},
		{variable: "MOCKBASE_ADDR=localhost:http", fault: "0 to 65535"},
		{variable: "MOCKBASE_ADDR=[::1]:70000", fault: "0 to 65535"},
		{variable: "MOCKBASE_PUBLIC_URL=https://mocks.example.com/", text: func(s *config.Settings) any { return s.PublicURL }, want: "https://mocks.example.com"},
		{variable: "MOCKBASE_PUBLIC_URL=mocks.example.com", fault: "is no URL"},
		{variable: "MOCKBASE_PUBLIC_URL=https://a.test/b", fault: "more than a scheme"},
		{variable: "MOCKBASE_MANAGEMENT_ORIGINS=https://A.test,http://b.test:81", text: func(s *config.Settings) any { return s.ManagementOrigins }, want: "[https://a.test http://b.test:81]"},
		{variable: "MOCKBASE_MANAGEMENT_ORIGINS=*", fault: "is no URL"},
		{variable: "MOCKBASE_PROJECT=shop", text: func(s *config.Settings) any { return s.Project }, want: "shop"},
		{variable: "MOCKBASE_PROJECT=Shop", fault: "lower-case letters"},
		{variable: "MOCKBASE_JOURNAL_AGE=90m", text: func(s *config.Settings) any { return s.JournalAge }, want: "1h30m"},
		{variable: "MOCKBASE_JOURNAL_AGE=1d", text: func(s *config.Settings) any { return s.JournalAge }, want: "24h"},
		{variable: "MOCKBASE_JOURNAL_AGE=60", fault: "is no duration"},
		{variable: "MOCKBASE_MAX_BODY=1536KiB", text: func(s *config.Settings) any { return s.MaxBody }, want: "1536KiB"},
		{variable: "MOCKBASE_MAX_BODY=2GB", text: func(s *config.Settings) any { return s.MaxBody }, want: "1953125KiB"},
		{variable: "MOCKBASE_MAX_BODY=5 MB", text: func(s *config.Settings) any { return s.MaxBody }, want: "5000000"},
		{variable: "MOCKBASE_MAX_BODY=-1", fault: "is no size"},
		{variable: "MOCKBASE_MAX_BODY=9000000000GiB", fault: "more than any machine"},
		{variable: "MOCKBASE_MAX_HEADER=10", fault: "too small"},
		{variable: "MOCKBASE_MAX_BODY=0", fault: "too small"},
		{variable: "MOCKBASE_JOURNAL_AGE=1ms", fault: "too short"},
		{variable: "MOCKBASE_JOURNAL_COUNT=0", text: func(s *config.Settings) any { return s.JournalCount }, want: "0"},
		{variable: "MOCKBASE_JOURNAL_COUNT=1e3", fault: "is no count"},
		{variable: "MOCKBASE_TRUSTED_PROXIES=10.1.2.3/8,192.0.2.7,2001:db8::/32", text: func(s *config.Settings) any { return s.TrustedProxies }, want: "[10.0.0.0/8 192.0.2.7 2001:db8::/32]"},
		{variable: "MOCKBASE_TRUSTED_PROXIES=proxy.test", fault: "is no network"},
		{variable: "MOCKBASE_IPV6_PREFIX=31", fault: "from 32 to 128"},
		{variable: "MOCKBASE_CLIENT_ADDRESS_HEADER=CF-Connecting-IP", text: func(s *config.Settings) any { return s.ClientAddressHeader }, want: "cf-connecting-ip"},
		{variable: "MOCKBASE_CLIENT_ADDRESS_HEADER=a b", fault: "is no header name"},
		{variable: "MOCKBASE_ENGINE_LIMIT=5/1m", text: func(s *config.Settings) any { return s.EngineLimit }, want: "5/1m"},
		{variable: "MOCKBASE_ENGINE_LIMIT=disabled", text: func(s *config.Settings) any { return s.EngineLimit }, want: "disabled"},
		{variable: "MOCKBASE_ENGINE_LIMIT=0/60s", text: func(s *config.Settings) any { return s.EngineLimit }, want: "disabled"},
		{variable: "MOCKBASE_ENGINE_LIMIT=fast", fault: `"fast" is no limit: at byte 0: want a number, as in "100/minute"; write 120/60s or 5/1m, or disabled for none`},
		{variable: "MOCKBASE_ENGINE_LIMIT=5/100ms", fault: "window: 100ms is not whole seconds"},
		{variable: "MOCKBASE_ENGINE_LIMIT=60/min algorithm=gcra burst=5", text: func(s *config.Settings) any { return s.EngineLimit }, want: "60/1m algorithm=gcra burst=5"},
		{variable: "MOCKBASE_ENGINE_LIMIT=100/fortnight", fault: "at byte 4: want a unit: ms, s, m, h or d"},
		{variable: "MOCKBASE_ENGINE_LIMIT=-1/60s", fault: "at byte 0: want a number"},
		{variable: "MOCKBASE_ENGINE_LIMIT=100/0s", fault: "at byte 4: want a window from 1 ms to 3,653 days"},
		{variable: "MOCKBASE_ENGINE_LIMIT=9223372036854775808/s", fault: "want a number of at most 9007199254740991"},
		{variable: "MOCKBASE_ENGINE_LIMIT=1/s algorithm=gcra burst=0", fault: "want a burst of at least 1"},
		{variable: "MOCKBASE_ENGINE_LIMIT=1/s algorithm=dice", fault: "want fixed_window, sliding_window"},
		{variable: "MOCKBASE_ENGINE_LIMIT=2000000/s algorithm=sliding_log", fault: "limit: 2000000 is not in 0…1000000"},
		{variable: "MOCKBASE_ENGINE_LIMIT=9007199254740991/3653d algorithm=gcra", fault: "window: 87672h0m0s with these numbers is too fine"},
		{variable: "MOCKBASE_ENGINE_LIMIT=60/min burst=5", fault: "only token_bucket, leaky_bucket and gcra have a burst"},
		{variable: "MOCKBASE_SHIELD_ALGORITHM=sliding_log", text: func(s *config.Settings) any { return s.EngineLimit.By(s.ShieldAlgorithm) }, want: "120/1m algorithm=sliding_log"},
		{variable: "MOCKBASE_SHIELD_ALGORITHM=gcar", fault: `did you mean "gcra"?`},
		{variable: "MOCKBASE_SHIELD_ALGORITHM=concurrency", fault: "write fixed_window, sliding_window, sliding_log"},
		{variable: "MOCKBASE_METRICS=public", text: func(s *config.Settings) any { return s.Metrics }, want: "public"},
		{variable: "MOCKBASE_METRICS=tokens", fault: `did you mean "token"?`},
		{variable: "MOCKBASE_LOGIN_BAN=3/1m ban=1h", text: func(s *config.Settings) any { return s.LoginBan }, want: "3/1m ban=1h"},
		{variable: "MOCKBASE_LOGIN_BAN=", text: func(s *config.Settings) any { return s.LoginBan }, want: guard.SignInBans},
		{variable: "MOCKBASE_LOGIN_BAN=disabled", text: func(s *config.Settings) any { return s.LoginBan }, want: "disabled"},
		{variable: "MOCKBASE_LOGIN_BAN=3/1m", fault: `is no list of bans: at byte 0: want a rule with a ban`},
		{variable: "MOCKBASE_LOGIN_BAN=3/1m ban=1h key=account", fault: "lock nobody else out"},
		{variable: "MOCKBASE_LOGIN_BAN=3/1m ban=1h key=global", fault: "lock nobody else out"},
		{variable: "MOCKBASE_LOGIN_BAN=3/1m ban=1h key=ip+header:X-A", fault: "lock nobody else out"},
		{variable: "MOCKBASE_LOGIN_BAN=3/1m ban=1h name=a,4/1m ban=1h name=a", fault: `two bans are named "a"`},
		{variable: "MOCKBASE_LOGIN_BAN=3/1m ban=1h name=circuit", fault: `"circuit" is a name of the shield's own`},
		{variable: "MOCKBASE_ENGINE_LIMIT=5/60s name=a,6/60s name=a", fault: `two limits are named "a"`},                // RL122
		{variable: "MOCKBASE_ENGINE_LIMIT=5/60s name=engine,6/60s name=engine", fault: `two limits are named "engine"`}, // RL122
		{variable: "MOCKBASE_ENGINE_LIMIT=5/60s name=2,6/60s", fault: `two limits are named "2"`},                       // RL122
		{variable: "MOCKBASE_ENGINE_LIMIT=5/60s name=ip", fault: "of its own"},
		{variable: "MOCKBASE_LOGIN_LIMIT=5/60s name=ban-1", fault: "of its own"},
		{variable: "MOCKBASE_MANAGEMENT_LIMIT=5/60s name=a123456789a123456789a123456789a123456789a123456789a123", fault: "too long"},
		{variable: "MOCKBASE_SHIELD_EXCLUDE=nopath", fault: `"nopath" is no path`}, // RL87
		{variable: "MOCKBASE_SHIELD_EXCLUDE=/a*b", fault: "is no path"},
		{variable: "MOCKBASE_FINGERPRINT_LEVEL=custom", fault: "custom has no parts"},
		{variable: "MOCKBASE_REDIS_URL=http://x", fault: "MOCKBASE_REDIS_URL: "}, // RL130
		{variable: "MOCKBASE_REDIS_URL=redis://h/abc", fault: "MOCKBASE_REDIS_URL: "},
		{variable: "MOCKBASE_REDIS_URL=redis://h/-1", fault: "MOCKBASE_REDIS_URL: "},
		{variable: "MOCKBASE_REDIS_URL=redis://h:99999", fault: "MOCKBASE_REDIS_URL: "},
		{variable: "MOCKBASE_REDIS_URL=redis://h?pool_size=3", fault: `the parameter "pool_size" is not accepted`},
		{variable: "MOCKBASE_REDIS_ADDRS=h", fault: "MOCKBASE_REDIS_ADDRS: "},
		{variable: "MOCKBASE_SHIELD_SAFELIST=10.1.2.3/8,192.0.2.7,/m/demo/*", text: func(s *config.Settings) any { return s.ShieldSafelist }, want: "[10.0.0.0/8 192.0.2.7 /m/demo/*]"},
		{variable: "MOCKBASE_SHIELD_BLOCKLIST=proxy.test", fault: "is no entry of a list"},
		{variable: "MOCKBASE_SHIELD_BLOCKLIST=/m/*/x*", fault: "is no entry of a list"},
		{variable: "MOCKBASE_LIMIT_STORE_FAILURE=close", fault: `did you mean "closed"?`},
		{variable: "MOCKBASE_SHIELD_HEADERS=draft,split", fault: "in two ways"},
		{variable: "MOCKBASE_SHIELD_HEADERS=x,none", fault: "stands alone"},
		{variable: "MOCKBASE_SHIELD_HEADERS=ratelimit", fault: "write draft, split"},
		{variable: "MOCKBASE_SHIELD_STATUS=418", fault: "429, 420 or 503"},
		{variable: "MOCKBASE_SHIELD_STATUS=420", text: func(s *config.Settings) any { return s.ShieldStatus }, want: "420"},
		{variable: "MOCKBASE_SHIELD_KEY_PREFIX={a}", fault: "is no key prefix"},
		{variable: "MOCKBASE_BROWSER_SANDBOX=projects", fault: `did you mean "project"?`},
		{variable: "MOCKBASE_REDIS_BUDGET=3s", fault: "1ms to 2s"},
		{variable: "MOCKBASE_REDIS_PROBE_INTERVAL=1ms", fault: "10ms to 1m"},
		{variable: "MOCKBASE_REDIS_BATCH_FLIGHTS=9", fault: "from 2 to 8"},
		{variable: "MOCKBASE_REDIS_MASTER=m", fault: "no Sentinel"},
		{variable: "MOCKBASE_EPHEMERAL=maybe", fault: "MOCKBASE_EPHEMERAL"},
		{variable: "MOCKBASE_TLS_CERT=a.pem", fault: "there is no key to go with it"},
		{variable: "MOCKBASE_TLS_KEY=a.pem", fault: "there is no certificate to go with it"},
		{variable: "MOCKBASE_ADMIN_ADDR=127.0.0.1:8080", fault: "is the same address as --addr"},
		{variable: "MOCKBASE_ADMIN_EMAIL=a@b.test", fault: "there is no password to go with it"},
		{variable: "MOCKBASE_ADMIN_PASSWORD=x", fault: "there is no e-mail address to go with it"},
		{variable: "MOCKBASE_ADMIN_PASSWORD_FILE=/nowhere", fault: "no such file"},
		{variable: "MOCKBASE_REDIS_URL_FILE=/dev/null", fault: "is empty"},
	}
	for _, test := range tests {
		t.Run(test.variable, func(t *testing.T) {
			t.Parallel()
			got := read(t, "", []string{test.variable})
			if all := strings.Join(got.faults, "\n"); !strings.Contains(all, test.fault) || test.fault == "" && all != "" {
				t.Fatalf("said %q, want %q", all, test.fault)
			}
			if test.text != nil {
				if text := show(test.text(&got.settings)); text != test.want {
					t.Errorf("shown as %s, want %s", text, test.want)
				}
			}
		})
	}
}

func TestCheck_finds_settings_that_exclude_each_other(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		environ []string
		args    []string
		want    string
	}{
		{
			name:    "a secret and its file",
			environ: []string{"MOCKBASE_ADMIN_EMAIL=a@b.test", "MOCKBASE_ADMIN_PASSWORD=hush", "MOCKBASE_ADMIN_PASSWORD_FILE=/dev/null"},
			want:    "MOCKBASE_ADMIN_PASSWORD: is set, and so is MOCKBASE_ADMIN_PASSWORD_FILE",
		},
		{
			name:    "two places for Redis",
			environ: []string{"MOCKBASE_REDIS_URL=redis://:hush@h"},
			args:    []string{"--redis-addrs=a:1,b:1"},
			want:    "--redis-addrs: is set, and so is MOCKBASE_REDIS_URL",
		},
		{
			name: "a cluster with a master",
			args: []string{"--redis-addrs=a:1", "--redis-master=m", "--redis-cluster"},
			want: "--redis-cluster: a cluster has no --redis-master",
		},
		{
			name:    "an e-mail address that is none",
			environ: []string{"MOCKBASE_ADMIN_PASSWORD=hush"},
			args:    []string{"--admin-email=Ada <a@b.test>"},
			want:    `--admin-email: "Ada <a@b.test>" is no e-mail address`,
		},
		{
			name: "a limit that the algorithm cannot keep",
			args: []string{"--shield-algorithm=sliding_log", "--engine-limit=2000000000/1m", "--management-limit=2000000000/1m algorithm=fixed_window"},
			want: "--engine-limit: does not go with --shield-algorithm sliding_log: limit: 2000000000 is not in 0…1000000",
		},
		{
			name:    "an alignment that the algorithm lacks",
			environ: []string{"MOCKBASE_SHIELD_ALGORITHM=gcra", "MOCKBASE_LOGIN_LIMIT=10/1m align=clock"},
			want:    "MOCKBASE_LOGIN_LIMIT: does not go with MOCKBASE_SHIELD_ALGORITHM gcra: align: only fixed_window has an align",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got := read(t, "", test.environ, test.args...)
			if diff := cmp.Diff([]string{test.want}, got.faults); diff != "" {
				t.Error(diff)
			}
			if strings.Contains(strings.Join(got.faults, ""), "hush") {
				t.Error("a secret is shown")
			}
		})
	}
}
