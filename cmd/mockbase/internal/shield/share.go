package shield

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/ratelimit"
	"github.com/mockbase/mockbase/ratelimit/redisstore"
)

// Shared is where servers share the settings that administrators change (rule RL130).
type Shared interface {
	// Document returns what is shared under a name; one that is not there has the version 0.
	Document(ctx context.Context, name string) (redisstore.Document, error)
	// PutDocument puts a document in the place of an older one, and returns what is there afterwards.
	PutDocument(ctx context.Context, name string, next redisstore.Document) (put bool, held redisstore.Document, err error)
	// Key tells people where a document lies.
	Key(name string) string
}

// followEvery is how often a server looks whether another one has changed the settings: a change is everywhere within two
// seconds.
const followEvery = time.Second

// follow keeps up with the other servers until the shield is closed.
func (s *Shield) follow() {
	if s.options.Shared == nil {
		return
	}
	ctx, stop := context.WithCancel(context.Background())
	gone := make(chan struct{})
	s.ends = append(s.ends, func() error { stop(); <-gone; return nil })
	go func() {
		defer close(gone)
		pace := time.NewTicker(followEvery)
		defer pace.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-pace.C:
				s.catchUp(ctx)
				s.restore(ctx)
			}
		}
	}()
}

// catchUp takes over newer settings of another server, and hands out its own where they are the newer ones: after an outage
// of what is shared, or at the start. While nothing can be read the last known settings stay in force.
func (s *Shield) catchUp(ctx context.Context) {
	s.changing.Lock()
	defer s.changing.Unlock()
	held, err := s.options.Shared.Document(ctx, settingName)
	s.tellForeign(err)
	if err != nil {
		return // The store tells about its outages.
	}
	own := s.present.Load().document
	switch {
	case newer(&held, &own):
		s.adopt(ctx, &held)
	case newer(&own, &held):
		s.handOut(ctx, own, &held)
	}
}

// tellForeign tells once when somebody else's value stands where the settings are shared, and once when it does no more.
func (s *Shield) tellForeign(err error) {
	foreign := errors.Is(err, ratelimit.ErrStoreData)
	if foreign == s.foreign || err != nil && !foreign {
		return
	}
	s.foreign = foreign
	key := slog.String("key", s.options.Shared.Key(settingName))
	if foreign {
		s.options.Logger.Warn("what Redis holds in the place of the shield's settings is somebody else's: servers do not share changes until it is deleted", key)
		return
	}
	s.options.Logger.Info("servers share the settings of the shield again", key)
}

// newer says whether one document replaces another: by its version, and where both have changed without knowing of each
// other by its time. Of two of the same time all servers choose the same. What has no version is nobody's change.
func newer(a, b *redisstore.Document) bool {
	if a.Version != b.Version || a.Version == 0 {
		return a.Version > b.Version
	}
	if !a.At.Equal(b.At) && !bytes.Equal(a.Text, b.Text) {
		return a.At.After(b.At)
	}
	return bytes.Compare(a.Text, b.Text) > 0
}

// handOut gives the other servers the settings of this one. Against those of the same version they win as the next one.
func (s *Shield) handOut(ctx context.Context, own redisstore.Document, held *redisstore.Document) {
	if own.Version == held.Version {
		own.Version++
	}
	put, _, err := s.options.Shared.PutDocument(ctx, settingName, own)
	if err != nil || !put {
		return // Another server was faster, and the next look tells what it said.
	}
	now := *s.present.Load()
	if own.Version != now.document.Version {
		s.keepAdopted(ctx, &own)
		now.document, now.version = own, own.Version+firstVersion
		s.present.Store(&now)
	}
	s.options.Logger.Info("the settings of the shield were handed out to the other servers", slog.Int64("version", own.Version+firstVersion))
}

// adopt puts the settings of another server into force, as far as the configuration of this one lets it. Those that make no
// sense here are told once and change nothing but the version: what is stored for the next start stays the last that did.
func (s *Shield) adopt(ctx context.Context, held *redisstore.Document) {
	now := s.present.Load()
	from := s.withoutEnded(now.settings)
	next, rules, err := s.read(held.Text)
	if err == nil {
		err = s.enact(ctx, &from, &next, rules)
	}
	if err != nil {
		next = now.settings
		s.options.Logger.Warn("the settings that another server gave the shield do not go with this one and are left out",
			slog.Int64("version", held.Version+firstVersion), slog.String("by", held.By), slog.String("reason", err.Error()))
	}
	s.present.Store(&state{settings: next, version: held.Version + firstVersion, document: *held})
	if err != nil {
		return
	}
	s.keepAdopted(ctx, held)
	if from.IPv6Prefix != next.IPv6Prefix { // The networks of banned clients are others.
		if err := s.restoreBans(ctx); err != nil {
			s.options.Logger.Warn("bans do not follow the changed networks of clients", slog.String("reason", err.Error()))
		}
	}
	s.options.Logger.Info("the settings of the shield were changed at another server", slog.String("by", held.By),
		slog.Any("changed", differences(&from, &next)), slog.Int64("version", held.Version+firstVersion))
}

// keepAdopted stores what came from elsewhere, for a start without the others.
func (s *Shield) keepAdopted(ctx context.Context, d *redisstore.Document) {
	err := s.options.Kept.PutSetting(ctx, settingOf(d))
	if err != nil && mockbase.ErrorCode(err) != mockbase.CodeVersionMismatch { // Of the same version the own one is kept: the shared one wins again.
		s.options.Logger.Warn("the settings of the shield are in force and not stored here", slog.String("reason", err.Error()))
	}
}

// read reads stored or shared settings and compiles them, with what the configuration states from there. Others wrote them,
// perhaps another version of this program or no server at all: they are checked as those of an administrator are.
func (s *Shield) read(text []byte) (mockbase.ShieldSettings, *ruleSet, error) {
	var kept mockbase.ShieldSettings
	if err := json.Unmarshal(text, &kept); err != nil {
		return kept, nil, fmt.Errorf("read settings of the shield: %w", err)
	}
	base := s.configured()
	return s.prepare(s.withoutEnded(s.merge(&base, &kept)))
}

// documentOf is a stored setting as servers share it, settingOf the reverse.
func documentOf(stored *mockbase.Setting) redisstore.Document {
	return redisstore.Document{Version: stored.Version, At: stored.UpdatedAt.Truncate(time.Microsecond), By: stored.UpdatedBy, Text: stored.Document}
}

func settingOf(d *redisstore.Document) *mockbase.Setting {
	return &mockbase.Setting{Name: settingName, Version: d.Version, Document: d.Text, UpdatedAt: d.At, UpdatedBy: d.By}
}

// publish hands a change to the other servers, and fails with CodeVersionMismatch if one of them was faster. While they
// cannot be told a change is made only by who says that they mean it, since it may lose against one made elsewhere.
func (s *Shield) publish(ctx context.Context, next *redisstore.Document, by *mockbase.Administrator) error {
	if s.options.Shared == nil {
		return nil
	}
	put, held, err := s.options.Shared.PutDocument(ctx, settingName, *next)
	switch {
	case errors.Is(err, ratelimit.ErrStoreData) && !by.Force:
		return &mockbase.Error{
			Code: mockbase.CodeUnavailable, Message: fmt.Sprintf("what Redis holds at %q is not what servers share there, so that they cannot be told of the change",
				s.options.Shared.Key(settingName)),
			Hint: "delete that key, if it is nobody else's, and change it again; or add ?force=true to change this server now", Err: err,
		}
	case err != nil && by.Force:
		s.options.Logger.Warn("the other servers are told of changed settings of the shield when Redis answers again", slog.String("reason", err.Error()))
		return nil
	case err != nil:
		return &mockbase.Error{
			Code: mockbase.CodeUnavailable, Message: "Redis does not answer, so that the other servers cannot be told of the change",
			Hint: "try again later, or add ?force=true to change this server now and the others when Redis answers", Err: err,
		}
	case put:
		return nil
	}
	s.adopt(ctx, &held)
	return &mockbase.Error{
		Code: mockbase.CodeVersionMismatch, Message: "somebody changed this at another server since you read it", Hint: "read it again and repeat the change",
		Version: held.Version + firstVersion,
	}
}

// written makes the document of changed settings. What the configuration states here and nobody may change stays as the
// others know it.
func (s *Shield) written(next *mockbase.ShieldSettings, version int64, by string) (redisstore.Document, error) {
	kept := s.unpinned(next)
	kept.Pinned = nil
	text, err := json.Marshal(kept)
	if err != nil {
		return redisstore.Document{}, fmt.Errorf("write settings of the shield: %w", err)
	}
	return redisstore.Document{Version: version - firstVersion, At: s.options.Clock().Truncate(time.Microsecond), By: by, Text: text}, nil
}

// unpinned returns settings with what is pinned here as the document in force has it, and with the policies that only
// other servers have.
func (s *Shield) unpinned(next *mockbase.ShieldSettings) mockbase.ShieldSettings {
	var known mockbase.ShieldSettings
	text := s.present.Load().document.Text
	if _, _, err := s.read(text); err != nil || json.Unmarshal(text, &known) != nil {
		return *next // Nobody has changed anything before, or to something that makes no sense.
	}
	base := known
	base.Policies = nil
	for i := range next.Policies {
		p := next.Policies[i]
		if w := find(known.Policies, p.Name); w != nil {
			p = *w
		}
		base.Policies = append(base.Policies, p)
	}
	merged := s.merge(&base, next)
	for i := range known.Policies {
		if find(merged.Policies, known.Policies[i].Name) == nil {
			merged.Policies = append(merged.Policies, known.Policies[i])
		}
	}
	return merged
}

// enact puts settings into force that another server was given. Orders to the circuit are shared with it.
func (s *Shield) enact(ctx context.Context, from, to *mockbase.ShieldSettings, rules *ruleSet) error {
	if s.options.Circuits != nil {
		return s.update(to, rules)
	}
	return s.apply(ctx, from, to, rules, "")
}

// update puts addresses, rules and fields into force.
func (s *Shield) update(to *mockbase.ShieldSettings, rules *ruleSet) error {
	s.addresses.Update(s.addressing(to))
	s.byEndpoint.Store(rules.byEndpoint)
	err := errors.Join(s.guard.Update(rules.all), s.signIn.Update(rules.signIn), s.failures.Update(rules.failures), s.mocks.SetHeadersOn(s.mockHeaders(to)))
	if err != nil {
		return fmt.Errorf("change shield: %w", err)
	}
	return nil
}
