package main

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/store"
	"github.com/mockbase/mockbase/store/sqlite"
)

// system tells how the server is (rule M-236).
func (s *server) system(ctx context.Context) (mockbase.SystemState, error) {
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	recorded := s.journal.Stats()
	limiter := s.shield.StoreStatus()
	return mockbase.SystemState{
		Version:       version,
		UptimeSeconds: int64(s.clock().Sub(s.began).Seconds()),
		Store:         s.storeState(ctx),
		Journal:       mockbase.SystemJournal{Queued: int64(recorded.Queued), Dropped: recorded.Dropped, Evicted: recorded.Evicted},
		Limiter:       mockbase.SystemLimiter{Backend: limiter.Backend, State: limiter.State},
		Memory:        mockbase.SystemMemory{HeapBytes: memory.HeapAlloc, TotalBytes: memory.Sys},
		Goroutines:    runtime.NumGoroutine(),
		Listeners:     s.listenersView(),
	}, nil
}

func (s *server) storeState(ctx context.Context) mockbase.SystemStore {
	state := mockbase.SystemStore{Kind: "memory", State: partOK}
	err := s.store.Ping(ctx)
	if unwritten, ok := errors.AsType[*store.WriteError](err); ok {
		state.State = partDegraded + ": writes fail: " + describe(unwritten)
	} else if err != nil {
		state.State = describe(err)
	}
	if s.ephemeral() {
		return state
	}
	state.Kind, state.Path = "sqlite", filepath.Join(s.settings.DataDir, databaseName)
	for _, path := range sqlite.Files(state.Path) {
		for _, suffix := range []string{"", "-wal"} {
			if info, err := os.Stat(path + suffix); err == nil {
				state.SizeBytes += info.Size()
			}
		}
	}
	return state
}

// listeners are all of them, those of projects too.
func (s *server) listeners() []net.Listener {
	all := slices.Clone(s.listen)
	for _, own := range s.owned {
		all = append(all, own.Listener)
	}
	return all
}

// listenersView are the addresses that connections are accepted at, with what answers there (rule C-21).
func (s *server) listenersView() []mockbase.SystemListener {
	list := make([]mockbase.SystemListener, 0, len(s.listen))
	for i, l := range s.listen {
		serves := []string{"mocks", "management", "probes"}
		switch {
		case len(s.listen) > 1 && i == 0:
			serves = []string{"mocks", "probes"}
		case i > 0:
			serves = []string{"management", "probes"}
		}
		list = append(list, mockbase.SystemListener{Address: l.Addr().String(), TLS: s.tls != nil, Serves: serves})
	}
	for _, own := range s.owned {
		list = append(list, mockbase.SystemListener{Address: own.Addr().String(), TLS: s.tls != nil, Serves: []string{"mocks of " + own.slug}})
	}
	return list
}
