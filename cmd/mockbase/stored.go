package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/cmd/mockbase/internal/config"
	"github.com/mockbase/mockbase/management"
	"github.com/mockbase/mockbase/management/catalog"
)

// settingsName is the name that the store keeps administrators' settings under.
const settingsName = "config"

// storedSettings are the settings as administrators see and change them while the server works (rules M-237 and M-238).
type storedSettings struct {
	store   keptSettings
	clock   func() time.Time
	started config.Settings
	applied func(mockbase.InstanceSettings)

	mu sync.Mutex
	// origins and stored are replaced and never changed. stored holds texts by keys, version counts its changes from 0.
	origins map[string]config.Origin
	stored  map[string]string
	version int64
	now     atomic.Pointer[config.Team]
}

// keptSettings is what a store keeps of them.
type keptSettings interface {
	Setting(ctx context.Context, name string) (*mockbase.Setting, error)
	PutSetting(ctx context.Context, s *mockbase.Setting) error
}

var _ management.Configuration = (*storedSettings)(nil)

// openSettings puts what administrators stored in the place of defaults (rule C-3). Stored values that this program does
// not understand are left out, with a line in the log: a server that does not start could not be mended over its API.
func (s *server) openSettings() error {
	kept := &storedSettings{store: s.store, clock: s.clock, started: *s.settings, origins: s.origins, stored: map[string]string{}}
	kept.applied = func(now mockbase.InstanceSettings) {
		if s.catalog != nil {
			s.catalog.SetQuotas(catalog.Quotas{
				MaxProjects: now.MaxProjects, MaxMocksPerProject: now.MaxMocksPerProject, MaxDocumentsPerProject: now.MaxDocumentsPerProject,
			})
			s.engine.LimitSessions(now.MaxSessionsPerProject)
		}
	}
	if err := kept.load(s.ctx, s.log.Logger); err != nil {
		return err
	}
	s.stored, s.origins, s.settings.Team = kept, kept.origins, *kept.now.Load()
	return nil
}

func (k *storedSettings) load(ctx context.Context, logger *slog.Logger) error {
	found, err := k.store.Setting(ctx, settingsName)
	if mockbase.ErrorCode(err) == mockbase.CodeNotFound {
		k.now.Store(&k.started.Team)
		return nil
	}
	if err != nil {
		return fmt.Errorf("read stored settings: %w", err)
	}
	values := map[string]string{}
	if err := json.Unmarshal(found.Document, &values); err != nil {
		logger.Error("the stored settings cannot be read, the defaults are in force", slog.Any("error", err))
	}
	for _, key := range slices.Sorted(maps.Keys(values)) {
		if _, err := k.started.WithStored(map[string]string{key: values[key]}, maps.Clone(k.origins)); err != nil {
			logger.Error("a stored setting is wrong, its default is in force", slog.String("setting", key), slog.Any("error", err))
			delete(values, key)
		}
	}
	k.version = found.Version
	return k.take(values)
}

// take puts values into force.
func (k *storedSettings) take(values map[string]string) error {
	origins := maps.Clone(k.origins)
	now, err := k.started.WithStored(values, origins)
	if err != nil {
		return err
	}
	k.stored, k.origins = values, origins
	k.now.Store(&now)
	return nil
}

// Settings are the values in force.
func (k *storedSettings) Settings() mockbase.InstanceSettings { return k.now.Load().Settings() }

// Items returns every setting, secrets masked. The version is one more than the number of changes.
func (k *storedSettings) Items() ([]mockbase.ConfigItem, int64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	settings := k.started
	settings.Team = *k.now.Load()
	table, err := config.Table()
	values, unread := settings.Values()
	if err := errors.Join(err, unread); err != nil {
		return []mockbase.ConfigItem{}, k.version + 1 // the table is part of the program, and tests read it
	}
	storable := config.Storable()
	items := make([]mockbase.ConfigItem, 0, len(table))
	for _, row := range table {
		items = append(items, mockbase.ConfigItem{
			Key: row.Key, Value: values[row.Name], Origin: string(k.origins[row.Name]), Meaning: row.Meaning,
			Changeable: slices.Contains(storable, row.Name) && !config.Pinned(k.origins[row.Name]),
		})
	}
	return items, k.version + 1
}

// Change stores other values.
func (k *storedSettings) Change(ctx context.Context, values map[string]string, version int64, by mockbase.Administrator) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if version != k.version+1 {
		return &mockbase.Error{Code: mockbase.CodeVersionMismatch, Message: "the settings have changed", Version: k.version + 1}
	}
	next := maps.Clone(k.stored)
	for key, value := range values {
		if value == "" {
			delete(next, key)
		} else {
			next[key] = value
		}
	}
	if _, err := k.started.WithStored(present(values), maps.Clone(k.origins)); err != nil {
		return err
	}
	if err := k.refusePinned(values); err != nil {
		return err
	}
	document, err := json.Marshal(next)
	if err != nil {
		return fmt.Errorf("write settings: %w", err)
	}
	err = k.store.PutSetting(ctx, &mockbase.Setting{
		Name: settingsName, Version: k.version + 1, Document: document, UpdatedAt: k.clock().UTC(), UpdatedBy: by.Account,
	})
	if err != nil {
		return err
	}
	k.version++
	if err := k.take(next); err != nil {
		return err
	}
	k.applied(k.Settings())
	return nil
}

// refusePinned refuses what a flag, a variable or the file states (rule M-82).
func (k *storedSettings) refusePinned(values map[string]string) error {
	table, err := config.Table()
	if err != nil {
		return err
	}
	for _, row := range table {
		if _, changed := values[row.Key]; changed && config.Pinned(k.origins[row.Name]) {
			return &mockbase.Error{
				Code: mockbase.CodePinnedByConfig, Message: row.Key + " is stated by " + config.Spell(row.Name, k.origins[row.Name]),
				Hint: "change it there, or remove it there and store it here",
			}
		}
	}
	return nil
}

// present leaves out what is to be forgotten.
func present(values map[string]string) map[string]string {
	left := maps.Clone(values)
	maps.DeleteFunc(left, func(_, value string) bool { return value == "" })
	return left
}
