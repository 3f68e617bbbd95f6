package management

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/mockbase/mockbase"
)

// RouteInfo is a line of the route table as tests see it.
type RouteInfo struct {
	ID, Method, Path, Access, Operation string
	Query                               []string
	Secret                              bool
	Scope                               string
	Fresh                               bool
}

// Routes lists the route table.
func Routes() []RouteInfo {
	table := routes()
	list := make([]RouteInfo, len(table))
	for i := range table {
		rt := &table[i]
		list[i] = RouteInfo{rt.id, rt.method, rt.path, string(rt.access), rt.operation, rt.query, rt.secret, string(rt.scope), rt.fresh}
	}
	return list
}

// Statuses is the table from codes to statuses.
func Statuses() map[mockbase.Code]int { return statusTable() }

// RegisterWithoutAccess registers a route that says not who may call it.
func RegisterWithoutAccess() error {
	s := &Server{echo: echo.New()}
	return s.register([]route{{method: http.MethodGet, path: "/open", operation: "open", handle: (*Server).health}})
}

// PanicAt makes a server panic in the handler of an address, below its checks.
func PanicAt(s *Server, path string, cause any) {
	s.echo.GET(path, func(echo.Context) error { panic(cause) })
}

// CutText exposes how a long text is cut in a list.
func CutText(text string) string { return cutText(text) }

// ReadCursor tells whether a text is a cursor for a list sorted by name.
func ReadCursor(text string) error {
	_, err := readCursor(text, "name", "")
	return err
}

// Quality is the weight that an Accept field gives a media type.
func Quality(accepted, offer string) float64 { return quality(accepted, offer) }

// Merge applies a merge patch to a JSON text.
func Merge(target, patch []byte) (string, error) {
	t, err := stored(target)
	if err != nil {
		return "", err
	}
	p, err := stored(patch)
	if err != nil {
		return "", err
	}
	return string(merge(t, p).JSON()), nil
}

// HostName exposes how a Host field is read.
func HostName(host string) string { return hostName(host) }

// LoopbackName tells whether a name stands for this machine alone.
func LoopbackName(name string) bool { return loopbackName(name) }

// ReadETag reads an ETag of ours.
func ReadETag(text string) (int64, bool) { return readETag(text) }

// AppendMembers joins two JSON objects.
func AppendMembers(object, more string) string {
	return string(appendMembers([]byte(object), []byte(more)))
}

// Page cuts a page out of a list of names, after a cursor, and returns it with the next cursor.
func Page(names []string, limit int, order, after string) (onPage []string, next string, err error) {
	values := url.Values{"sort": {order}, "limit": {strconv.Itoa(limit)}}
	if after != "" {
		values.Set("cursor", after)
	}
	p := &params{values: values}
	l, err := p.listing("name")
	if err != nil {
		return nil, "", err
	}
	onPage, next = cut(l, slices.Clone(names), func(name string) key { return key{Text: name, ID: "id-" + name} })
	return onPage, next, nil
}

// The bounds of what slows attempts to sign in down.
const (
	MaxSleepers = maxSleepers
	MaxTurns    = maxTurns
	MaxSlowed   = maxSlowed
)

// Slowdown is what slows attempts to sign in down.
type Slowdown struct{ *slowdown }

// NewSlowdown makes one; a nil sleep waits on the clock of the machine.
func NewSlowdown(clock func() time.Time, sleep func(context.Context, time.Duration) error) Slowdown {
	return Slowdown{newSlowdown(clock, sleep)}
}

// Failed counts a failure, Await waits as an attempt does, Accounts counts the accounts that are remembered.
func (s Slowdown) Failed(account string) { s.failed(account) }

// Await waits as an attempt does; the attempt lasts until done is called.
func (s Slowdown) Await(ctx context.Context, account string) (done func(), err error) {
	return s.await(ctx, account)
}

// Accounts counts the accounts that are remembered.
func (s Slowdown) Accounts() int { return len(s.accounts) }

// Escaped exports escaped.
func Escaped(text string) string { return escaped(text) }

// ServerSettings are the settings of a project beside those of its definition.
func ServerSettings() []string { return serverSettings() }
