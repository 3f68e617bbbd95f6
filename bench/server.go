package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/engine"
	"github.com/mockbase/mockbase/engine/journal"
	"github.com/mockbase/mockbase/engine/outbound"
	"github.com/mockbase/mockbase/engine/parking"
	"github.com/mockbase/mockbase/openapi"
)

// projectSlug is the project that every mock of a benchmark belongs to.
const projectSlug = "bench"

// Spec says what a server serves. It travels as JSON to the process that serves it.
type Spec struct {
	// Floor is a bare net/http handler; nil serves mocks.
	Floor *Floor `json:"floor,omitempty"`
	// Scene is what the mocks do.
	Scene Scene `json:"scene"`
	// Mocks is the number of mocks in the project; Journal records, with the default bounds.
	Mocks   int  `json:"mocks"`
	Journal bool `json:"journal"`
	// Upstream is the address that requests are passed on to.
	Upstream string `json:"upstream,omitempty"`
	// Operations is the number of operations in the OpenAPI document, Size its length in bytes.
	Operations int `json:"operations,omitempty"`
	Size       int `json:"size,omitempty"`
	// Shield is where the shield counts: "" for none, "memory", or the URL of a Redis.
	Shield string `json:"shield"`
	// Budget is the time that a check in Redis may take; 0 is the product's default.
	Budget time.Duration `json:"budget,omitempty"`
	// Profile is the file for a CPU profile; empty is none.
	Profile string `json:"profile,omitempty"`
}

// Handler makes what a spec describes. The function that comes with it ends what runs behind the handler.
func (s Spec) Handler() (http.Handler, func(), error) {
	if s.Floor != nil {
		return s.Floor.handler(), func() {}, nil
	}
	guard, closeShield, err := newShield(s.Shield, s.Budget)
	if err != nil {
		return nil, nil, err
	}
	options := engine.Options{Describe: describe, Upstreams: outbound.Options{Loopback: true}}
	if guard != nil {
		options.Shield = guard
	}
	if s.Journal {
		options.Journal = journal.New(journal.Options{})
	}
	e, err := newEngine(options, s.mocks(), s.config())
	return e, closeShield, err
}

func describe(d *mockbase.Document) (engine.Description, error) {
	compiled, err := openapi.Compile(d)
	if err != nil {
		return nil, fmt.Errorf("compile the document: %w", err)
	}
	return compiled, nil
}

func newEngine(o engine.Options, mocks [][]byte, config map[string]json.RawMessage) (*engine.Engine, error) {
	e, err := engine.New(o)
	if err != nil {
		return nil, fmt.Errorf("make engine: %w", err)
	}
	snapshot, err := newSnapshot(mocks, config)
	if err != nil {
		return nil, err
	}
	if err := e.Publish(snapshot); err != nil {
		return nil, fmt.Errorf("publish %d mocks: %w", len(mocks), err)
	}
	return e, nil
}

func newSnapshot(mocks [][]byte, config map[string]json.RawMessage) (*mockbase.Snapshot, error) {
	now := time.Now()
	project := &mockbase.Project{
		ID: mockbase.NewID(mockbase.PrefixProject, now), Slug: projectSlug, Access: mockbase.AccessPublic, Version: 1, Revision: 1,
	}
	var err error
	if project.Config, err = mockbase.DecodeConfig(config); err != nil {
		return nil, fmt.Errorf("decode configuration: %w", err)
	}
	snapshot := &mockbase.Snapshot{Project: project}
	for i, document := range mocks {
		m, err := mockbase.DecodeMock(document, mockbase.FormatJSON)
		if err != nil {
			return nil, fmt.Errorf("decode mock %d: %w", i, err)
		}
		m.ID, m.ProjectID, m.Version, m.Order = mockbase.NewID(mockbase.PrefixMock, now), project.ID, 1, int64(i+1)
		snapshot.Mocks = append(snapshot.Mocks, m)
	}
	return snapshot, nil
}

// Listen serves a handler on a free loopback port, with the settings that the product's own listener has: those of its
// http.Server for a [Floor], its connections too for anything else. The function that it returns ends the server.
func Listen(ctx context.Context, h http.Handler) (addr string, end func(), err error) {
	var config net.ListenConfig
	l, err := config.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, fmt.Errorf("listen: %w", err)
	}
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	protocols.SetUnencryptedHTTP2(true)
	server := &http.Server{
		Handler:                      h,
		ReadHeaderTimeout:            10 * time.Second,
		IdleTimeout:                  2 * time.Minute,
		MaxHeaderBytes:               64 << 10,
		DisableGeneralOptionsHandler: true,
		Protocols:                    protocols,
	}
	var serving interface {
		Serve(l net.Listener) error
		Close() error
	} = server
	if _, ok := h.(*Floor); !ok {
		serving = parking.New(server, parking.Options{})
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = serving.Serve(l)
	}()
	return l.Addr().String(), func() {
		_ = serving.Close()
		<-done
	}, nil
}
