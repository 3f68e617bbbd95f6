package redisstore

import (
	"context"
	"fmt"
	"time"

	"github.com/mockbase/mockbase/ratelimit"
)

const (
	// documentLife is how long a document outlasts the last replica that reads it.
	documentLife = 30 * 24 * time.Hour
	// maxDocument bounds the text of a document in bytes.
	maxDocument = 4 << 20
	// maxDocumentVersion is more than anybody changes a document, less than an instant in milliseconds that somebody else
	// wrote there, and exact in the doubles of scripts.
	maxDocumentVersion = 1 << 40
)

// Document is a text that replicas share, such as the settings of what stands before a server.
type Document struct {
	// Version grows with each change; 0 is a document that is not there.
	Version int64
	// At is when the version was written, in whole microseconds, By is who wrote it.
	At   time.Time
	By   string
	Text []byte
}

// Documents keeps texts that all replicas go by: each change has a version above the one before it, so that of two changes
// to the same version one is refused (rule RL130). One round trip reads or changes a document. It lasts for 30 days after
// the last replica that reads it. Documents is as safe for concurrent use as its store.
type Documents struct{ store *Store }

// Documents returns the shared documents in the store.
func (s *Store) Documents() Documents { return Documents{s} }

// Key is where a document lies, for people who have to look at it.
func (d Documents) Key(name string) string {
	return d.store.prefix + ":document:" + ratelimit.KeyIdentifier(name)
}

// Document reads a document; one that is not there has the version 0. Errors are *[Error], and ratelimit.ErrStoreData for
// what is no document.
func (d Documents) Document(ctx context.Context, name string) (Document, error) {
	_, held, err := d.ask(ctx, name, &Document{})
	return held, err
}

// PutDocument puts a document in the place of an older one. It returns what is there afterwards, and whether that is what
// was given. Errors are ratelimit.ErrConfig for what cannot be put, and *[Error].
func (d Documents) PutDocument(ctx context.Context, name string, next Document) (put bool, held Document, err error) { //nolint:gocritic // it is put rarely
	if next.Version < 1 || next.Version >= maxDocumentVersion || len(next.Text) > maxDocument {
		return false, Document{}, fmt.Errorf("put document %q: version %d, %d bytes: %w", name, next.Version, len(next.Text), ratelimit.ErrConfig)
	}
	return d.ask(ctx, name, &next)
}

func (d Documents) ask(ctx context.Context, name string, next *Document) (put bool, held Document, err error) {
	key := d.Key(name)
	answer, err := d.store.consult(ctx, d.store.target.scripts.document, []string{key},
		next.Version, instantText(next.At), next.By, next.Text, documentLife.Milliseconds())
	if err != nil {
		return false, Document{}, err
	}
	read := reader{answer: answer}
	put = read.number() == 1
	held = Document{Version: read.number(), At: read.instant(), By: read.text(), Text: []byte(read.text())}
	if read.fault != nil || held.Version < 0 || held.Version >= maxDocumentVersion {
		return false, Document{}, d.store.damaged(key)
	}
	return put, held, nil
}
