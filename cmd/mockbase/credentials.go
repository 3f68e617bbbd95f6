package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"github.com/mockbase/mockbase"
)

// credentials are the sign-ins that login keeps, by the names of their contexts (rule C-44).
type credentials struct {
	// Current is the context that commands use unless they name another, "" for none.
	Current  string             `json:"current"`
	Contexts map[string]*signIn `json:"contexts"`

	path string
}

// signIn is a server, and the token by which it knows this user.
type signIn struct {
	Server string `json:"server"`
	CAFile string `json:"caFile,omitempty"`
	Email  string `json:"email"`
	Token  string `json:"token"`
	// TokenID is the token's id, by which logout deletes it.
	TokenID   string     `json:"tokenId"`
	ExpiresAt *time.Time `json:"expiresAt,omitempty"`
}

// credentialsPath is where credentials lie: in the user's configuration directory.
func (p *process) credentialsPath() (string, error) {
	for _, place := range configPlaces(runtime.GOOS) {
		if dir, ok := p.lookup(place.variable); ok && filepath.IsAbs(dir) {
			return filepath.Join(dir, place.below, "mockbase", "credentials.json"), nil
		}
	}
	return "", &failure{
		code: exitEnvironment, what: "find credentials", err: errors.New("this user has no configuration directory"),
		fix: "set HOME, or name server and token with MOCKBASE_URL and MOCKBASE_TOKEN",
	}
}

// configPlaces are the variables that name a user's configuration directory, the first that is set.
func configPlaces(system string) []struct{ variable, below string } {
	switch system {
	case "windows":
		return []struct{ variable, below string }{{"AppData", ""}}
	case "darwin", "ios":
		return []struct{ variable, below string }{{"XDG_CONFIG_HOME", ""}, {"HOME", "Library/Application Support"}}
	default:
		return []struct{ variable, below string }{{"XDG_CONFIG_HOME", ""}, {"HOME", ".config"}}
	}
}

// loadCredentials reads what login kept. Nothing kept is no error; rights that let others read it are.
func (p *process) loadCredentials() (*credentials, error) {
	path, err := p.credentialsPath()
	if err != nil {
		return nil, err
	}
	kept := &credentials{Contexts: map[string]*signIn{}, path: path}
	text, err := os.ReadFile(path) //nolint:gosec // the path is made of the user's own directory
	if errors.Is(err, fs.ErrNotExist) {
		return kept, nil
	}
	if err != nil {
		return nil, &failure{code: exitEnvironment, what: "read credentials", err: err, fix: "see to it that this user can read the file"}
	}
	for _, one := range []struct {
		path string
		mode fs.FileMode
	}{{filepath.Dir(path), 0o700}, {path, 0o600}} {
		if err := narrow(one.path, one.mode); err != nil {
			return nil, err
		}
	}
	if err := json.Unmarshal(text, kept); err != nil {
		return nil, &failure{code: exitEnvironment, what: "read credentials", err: fmt.Errorf("%s is damaged: %w", path, err), fix: "remove the file, and sign in again with mockbase login"}
	}
	if kept.Contexts == nil {
		kept.Contexts = map[string]*signIn{}
	}
	return kept, nil
}

// narrow refuses rights that are wider than mode. Windows has other ones.
func narrow(path string, mode fs.FileMode) error {
	info, err := os.Stat(path)
	if err != nil || runtime.GOOS == "windows" || info.Mode().Perm()&^mode == 0 {
		return nil //nolint:nilerr // reading it has said so already
	}
	return &failure{
		code: exitEnvironment, what: "read credentials", err: fmt.Errorf("%s is open to other users (mode %04o)", path, info.Mode().Perm()),
		fix: fmt.Sprintf("chmod %o %s", mode, path),
	}
}

// save writes the credentials back, for this user alone.
func (c *credentials) save() error {
	dir := filepath.Dir(c.path)
	err := os.MkdirAll(dir, 0o700)
	if err == nil {
		err = os.Chmod(dir, 0o700) //nolint:gosec // a folder needs the right to enter it
	}
	var text []byte
	if err == nil {
		text, err = json.MarshalIndent(c, "", "  ")
	}
	if err == nil {
		err = replaceFile(c.path, append(text, '\n'))
	}
	if err != nil {
		return &failure{code: exitEnvironment, what: "keep credentials", err: err, fix: "see to it that this user can write " + dir}
	}
	return nil
}

// find returns the sign-in of a context, by its name; "" is the current one.
func (c *credentials) find(name string) (*signIn, error) {
	if name == "" {
		return c.Contexts[c.Current], nil
	}
	if found := c.Contexts[name]; found != nil {
		return found, nil
	}
	err := fmt.Errorf("there is no context %q", name)
	if near := mockbase.Suggest(name, c.names()); near != "" {
		err = fmt.Errorf("there is no context %q, did you mean %q?", name, near)
	}
	return nil, &failure{code: exitUsage, err: err, fix: "mockbase context list shows them, mockbase login --context NAME makes one"}
}

// named fails for a context that an argument names and that is not there (rule C-7).
func (c *credentials) named(name string) error {
	_, err := c.find(name)
	if f, ok := errors.AsType[*failure](err); ok {
		f.code = exitConflict
	}
	return err
}

// of returns a sign-in at a server, the current context's if that is one; nil for none.
func (c *credentials) of(server string) *signIn {
	if current := c.Contexts[c.Current]; current != nil && current.Server == server {
		return current
	}
	for _, name := range c.names() {
		if c.Contexts[name].Server == server {
			return c.Contexts[name]
		}
	}
	return nil
}

func (c *credentials) names() []string {
	names := make([]string, 0, len(c.Contexts))
	for name, kept := range c.Contexts {
		if kept != nil {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}
