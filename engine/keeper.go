package engine

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/engine/collection"
)

// DataStore keeps the data of collections that persist (rule V16). It is never asked on the path of a request.
type DataStore interface {
	// KeptCollections returns what is kept of a project.
	KeptCollections(ctx context.Context, projectID string) ([]mockbase.CollectionData, error)
	// KeepCollection stores what a collection holds, whole. It fails with CodeNotFound when the project is gone.
	KeepCollection(ctx context.Context, projectID string, data *mockbase.CollectionData) error
	// ForgetCollection lets go of what is kept; it is no error when there is nothing.
	ForgetCollection(ctx context.Context, projectID, name string) error
}

// How collections are kept: changes wait for others to be stored with, and each call of the store has its time.
const (
	keepInterval = 500 * time.Millisecond
	keepTimeout  = 10 * time.Second
)

// keptKey names a collection of a project.
type keptKey struct{ projectID, name string }

// keeper stores the data of collections a moment after it changed.
type keeper struct {
	store DataStore
	log   *slog.Logger

	mu sync.Mutex
	// waiting holds what changed; nil data is to be forgotten.
	waiting map[keptKey]*collection.Data
	failing bool
	// storing is held while the store is written to, so that an older state never follows a newer one.
	storing sync.Mutex

	wake, stop, done chan struct{}
	once             sync.Once
}

// startKeeper makes a keeper; without a store there is none.
func startKeeper(store DataStore, log *slog.Logger) *keeper {
	if store == nil {
		return nil
	}
	k := &keeper{
		store: store, log: log, waiting: map[keptKey]*collection.Data{},
		wake: make(chan struct{}, 1), stop: make(chan struct{}), done: make(chan struct{}),
	}
	go k.run()
	return k
}

// forget has what is kept of a collection deleted.
func (k *keeper) forget(projectID, name string) { k.changed(projectID, nil, name) }

// changed notes that a collection of the default session of a project changed. It is called while the data is locked.
func (k *keeper) changed(projectID string, data *collection.Data, name string) {
	if k == nil {
		return
	}
	k.mu.Lock()
	k.waiting[keptKey{projectID, name}] = data
	k.mu.Unlock()
	k.again()
}

// drop forgets that anything of a project waits: the store deletes it with the project.
func (k *keeper) drop(projectID string) {
	if k == nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	for key := range k.waiting {
		if key.projectID == projectID {
			delete(k.waiting, key)
		}
	}
}

func (k *keeper) run() {
	defer close(k.done)
	pause := time.NewTimer(keepInterval)
	defer pause.Stop()
	for {
		select {
		case <-k.stop:
			return
		case <-k.wake:
		}
		pause.Reset(keepInterval)
		select {
		case <-k.stop:
			return
		case <-pause.C:
		}
		if err := k.flush(context.Background()); err != nil {
			k.again()
		}
	}
}

// again makes the next round come.
func (k *keeper) again() {
	select {
	case k.wake <- struct{}{}:
	default:
	}
}

// flush stores everything that waits. What fails waits on, unless it changed again meanwhile.
func (k *keeper) flush(ctx context.Context) error {
	if k == nil {
		return nil
	}
	k.storing.Lock()
	defer k.storing.Unlock()
	k.mu.Lock()
	waiting := k.waiting
	k.waiting = make(map[keptKey]*collection.Data, len(waiting))
	k.mu.Unlock()
	var errs []error
	for key, data := range waiting {
		err := k.keep(ctx, key, data)
		if err == nil || mockbase.ErrorCode(err) == mockbase.CodeNotFound {
			continue
		}
		errs = append(errs, err)
		k.mu.Lock()
		if _, newer := k.waiting[key]; !newer {
			k.waiting[key] = data
		}
		k.mu.Unlock()
	}
	err := errors.Join(errs...)
	k.report(err)
	return err
}

func (k *keeper) keep(ctx context.Context, key keptKey, data *collection.Data) error {
	ctx, cancel := context.WithTimeout(ctx, keepTimeout)
	defer cancel()
	if data != nil {
		if kept, own := data.Kept(key.name); own {
			return k.store.KeepCollection(ctx, key.projectID, kept)
		}
	}
	return k.store.ForgetCollection(ctx, key.projectID, key.name)
}

// report logs when storing begins to fail and when it works again, and nothing in between.
func (k *keeper) report(err error) {
	switch {
	case err != nil && !k.failing:
		k.log.Warn("data of collections is not kept", slog.Any("error", err))
	case err == nil && k.failing:
		k.log.Info("data of collections is kept again")
	}
	k.failing = err != nil
}

// close ends the rounds and stores what waits.
func (k *keeper) close() error {
	if k == nil {
		return nil
	}
	k.once.Do(func() { close(k.stop) })
	<-k.done
	return k.flush(context.Background())
}
