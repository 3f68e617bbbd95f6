package mockbase

import "time"

// Backup is a copy of the definitions and accounts that an administrator made (rule M-232).
type Backup struct {
	ID        string
	SizeBytes int64
	// SHA256 is the digest of the file in small hexadecimal digits.
	SHA256    string
	CreatedAt time.Time
}

// Who may create projects (rule M-50).
const (
	ProjectsByMembers = "members"
	ProjectsByAdmins  = "admins"
)

// InstanceSettings are what administrators change of a whole server while it works (rule M-238).
type InstanceSettings struct {
	// Name and Color tell the server from others on the screen; Color is #rrggbb, and both may be empty.
	Name, Color string
	// ProjectCreation is ProjectsByMembers or ProjectsByAdmins.
	ProjectCreation string
	// The quotas of rule M-9.
	MaxProjects, MaxMocksPerProject, MaxDocumentsPerProject, MaxSessionsPerProject, MaxTokensPerUser int
	// AuditRetention is how long the audit log is kept.
	AuditRetention time.Duration
}

// ConfigItem is a setting of the server as administrators see it (rule M-237).
type ConfigItem struct {
	// Key is its name in camel case, Value its value as text, masked where it is a secret.
	Key   string `json:"key"`
	Value string `json:"value"`
	// Origin is "flag", "env MOCKBASE_ADDR", "file mockbase.yaml:7", "stored" or "default" (rule C-4).
	Origin string `json:"origin"`
	// Changeable tells that an administrator may store another value: the setting is one of those that can be stored, and
	// no flag, variable or file states it.
	Changeable bool `json:"changeable"`
	// Meaning says in a sentence what it does.
	Meaning string `json:"meaning"`
}

// SystemState is how a server is (rule M-236).
type SystemState struct {
	Version       string           `json:"version"`
	UptimeSeconds int64            `json:"uptimeSeconds"`
	Store         SystemStore      `json:"store"`
	Journal       SystemJournal    `json:"journal"`
	Limiter       SystemLimiter    `json:"limiter"`
	Memory        SystemMemory     `json:"memory"`
	Goroutines    int              `json:"goroutines"`
	Listeners     []SystemListener `json:"listeners"`
}

// SystemStore is where definitions are kept. Path is empty in memory.
type SystemStore struct {
	Kind      string `json:"kind"`
	Path      string `json:"path"`
	SizeBytes int64  `json:"sizeBytes"`
	State     string `json:"state"`
}

// SystemJournal is the record of requests: those that wait to be saved, that were not recorded, and that made room.
type SystemJournal struct {
	Queued  int64 `json:"queued"`
	Dropped int64 `json:"dropped"`
	Evicted int64 `json:"evicted"`
}

// SystemLimiter is the store of the shield's counts.
type SystemLimiter struct {
	Backend string           `json:"backend"`
	State   ShieldStoreState `json:"state"`
}

// SystemMemory is what the process uses, in bytes.
type SystemMemory struct {
	HeapBytes  uint64 `json:"heapBytes"`
	TotalBytes uint64 `json:"totalBytes"`
}

// SystemListener is an address that the server accepts connections at, and what it answers there.
type SystemListener struct {
	Address string   `json:"address"`
	TLS     bool     `json:"tls"`
	Serves  []string `json:"serves"`
}
