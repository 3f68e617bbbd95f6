package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"sync"
)

// statements keeps prepared what every request asks and every change writes: preparing costs as much as running it. It is
// for texts of this package alone, which are few.
type statements struct {
	pool *sql.DB

	mu   sync.RWMutex
	kept map[string]*sql.Stmt

	// bound are the statements of the transaction that writes, so that its changes share them. They belong to whoever has the
	// connection that writes.
	bound   map[string]*sql.Stmt
	boundTo *sql.Tx
}

// prepare keeps statements before somebody needs them. Those of a pool with one connection can only be prepared while nobody
// has it.
func (s *statements) prepare(ctx context.Context, texts ...string) error {
	for _, text := range texts {
		if _, err := s.prepared(ctx, text); err != nil { //nolint:sqlclosecheck // as below
			return wrap("prepare statement", err)
		}
	}
	return nil
}

func (s *statements) prepared(ctx context.Context, text string) (*sql.Stmt, error) {
	if found := s.find(text); found != nil {
		return found, nil
	}
	made, err := s.pool.PrepareContext(ctx, text) //nolint:sqlclosecheck // It is kept, and closed with the pool.
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if other := s.kept[text]; other != nil {
		finish(made)
		return other, nil
	}
	if s.kept == nil {
		s.kept = map[string]*sql.Stmt{}
	}
	s.kept[text] = made
	return made, nil
}

func (s *statements) find(text string) *sql.Stmt {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.kept[text]
}

// row asks for one row.
func (s *statements) row(ctx context.Context, text string, args ...any) *sql.Row {
	if found, err := s.prepared(ctx, text); err == nil { //nolint:sqlclosecheck // It is kept.
		return found.QueryRowContext(ctx, args...)
	}
	return s.pool.QueryRowContext(ctx, text, args...) // tells what is wrong
}

// exec runs a statement in a transaction, one that is kept if it was prepared.
func (s *statements) exec(ctx context.Context, tx *sql.Tx, text string, args ...any) (sql.Result, error) {
	if found := s.find(text); found != nil {
		return s.bind(ctx, tx, text, found).ExecContext(ctx, args...) //nolint:sqlclosecheck // The transaction closes it.
	}
	return tx.ExecContext(ctx, text, args...)
}

// bind is a statement in a transaction, which closes it.
func (s *statements) bind(ctx context.Context, tx *sql.Tx, text string, kept *sql.Stmt) *sql.Stmt {
	if s.boundTo != tx {
		s.boundTo, s.bound = tx, make(map[string]*sql.Stmt, len(s.bound))
	}
	if found := s.bound[text]; found != nil {
		return found
	}
	made := tx.StmtContext(ctx, kept)
	s.bound[text] = made
	return made
}

// close lets go of what is kept.
func (s *statements) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for _, one := range s.kept {
		errs = append(errs, one.Close())
	}
	s.kept = nil
	return errors.Join(errs...)
}
