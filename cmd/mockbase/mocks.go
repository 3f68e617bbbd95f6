package main

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/cmd/mockbase/internal/files"
	"github.com/mockbase/mockbase/examples"
)

// demoSlug is the project of a fresh server.
const demoSlug = "demo"

// loadMocks publishes what is stored and, in file mode, what the files say. A server that was never used gets a demo
// project, so that there is something to call at once.
func (s *server) loadMocks() error {
	if err := s.catalog.Load(s.ctx); err != nil {
		return fail(exitEnvironment, "load mocks", err)
	}
	if s.files != nil {
		if err := s.files.load(s.ctx, s.catalog, s.fetcher()); err != nil {
			return err
		}
		s.watchFiles()
		return nil
	}
	// Projects that an earlier start loaded from files are served from files only.
	if err := s.catalog.UnloadFiles(s.ctx); err != nil {
		return fail(exitEnvironment, "remove projects of earlier files", err)
	}
	if s.fresh && len(s.catalog.Projects()) == 0 {
		return s.loadDemo()
	}
	return nil
}

// watchFiles loads the files again when they change, until the server ends.
func (s *server) watchFiles() {
	if !s.settings.Watch {
		return
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(s.ctx))
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		s.files.watcher.Run(ctx, s.files.before, func() { s.files.reload(ctx) })
	}()
	s.ends = append(s.ends, func() error { stop(); <-gone; return nil })
}

// loadDemo stores the examples as a project like any other: it can be changed and deleted.
func (s *server) loadDemo() error {
	set, err := files.LoadFS(examples.Files, "examples", files.Options{Project: demoSlug})
	if err != nil {
		return fmt.Errorf("read examples: %w", err)
	}
	if len(set.Faults) > 0 {
		return fmt.Errorf("read examples: %s", set.Faults[0])
	}
	owner := ""
	if user, err := s.store.UserByEmail(s.ctx, s.settings.AdminEmail); err == nil {
		owner = user.ID
	}
	project := &mockbase.Project{Slug: demoSlug, Name: "Demo", Description: "Examples to call, to change and to delete.", Access: mockbase.AccessPublic}
	definition := set.Projects[0].Definition
	for _, m := range definition.Mocks {
		m.Origin = "" // they come from files, and are changed here
	}
	if _, err := s.catalog.CreateSample(s.ctx, project, definition, owner); err != nil {
		return fmt.Errorf("make demo project: %w", err)
	}
	return nil
}

// counts are the projects and mocks that are served.
func (s *server) counts() (projects, mocks int) {
	all := s.catalog.Projects()
	for _, p := range all {
		mocks += len(p.Mocks)
	}
	return len(all), mocks
}

// example is the path of a mock that a GET without anything else reaches, "" if there is none. The demo's own is
// preferred, so that a fresh server always shows the same one.
func (s *server) example() string {
	all := s.catalog.Projects()
	if demo, ok := s.catalog.Project(demoSlug); ok {
		all = append([]*mockbase.Snapshot{demo}, all...)
	}
	for _, p := range all {
		if p.Project.Access == mockbase.AccessToken {
			continue
		}
		for _, m := range p.Mocks {
			if callable(m) {
				return "/m/" + p.Project.Slug + m.Request.Path
			}
		}
	}
	return ""
}

// callable tells whether a mock answers GET of its path as it is written, at once and with success.
func callable(m *mockbase.Mock) bool {
	gets := slices.Contains(m.Request.Methods, http.MethodGet) || slices.Contains(m.Request.Methods, mockbase.MethodAny)
	quick := len(m.Responses) == 1 && m.Responses[0].Delay == nil && m.Responses[0].Status < http.StatusMultipleChoices
	plain := m.Request.Path != "" && !strings.ContainsAny(m.Request.Path, "{}*%\"'`$\\ ;&|<>()!")
	return gets && quick && plain && !m.Disabled && unconditional(m)
}

// unconditional tells whether a mock asks for nothing but a method and a path.
func unconditional(m *mockbase.Mock) bool {
	r := &m.Request
	conditions := len(r.Query) + len(r.Headers) + len(r.Cookies) + len(r.Matrix) + len(r.AnyOf) + len(r.AllOf) + len(m.States)
	return conditions == 0 && r.Host == "" && r.Not == nil && r.Body == nil && r.Auth == nil
}
