package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// Manager calls the management API of a running binary as its administrator, over connections that are kept open.
type Manager struct {
	addr, token string
	client      *http.Client
}

// Manage starts the binary and signs its administrator in. The function that comes with it ends the binary.
func (b *Binary) Manage(ctx context.Context) (*Manager, func(), error) {
	s, err := b.start(ctx)
	if err != nil {
		return nil, nil, err
	}
	if _, err := s.firstAnswer(ctx, []byte("GET /readyz HTTP/1.1\r\nHost: "+s.addr+"\r\n\r\n")); err != nil {
		return nil, nil, err
	}
	m := &Manager{addr: s.addr, client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}}
	var signIn struct {
		AccessToken string `json:"accessToken"`
	}
	if err = m.call(ctx, http.MethodPost, "/auth/login", map[string]any{"email": adminEmail, "password": adminPassword}, &signIn); err != nil {
		s.end()
		return nil, nil, err
	}
	m.token = signIn.AccessToken
	return m, s.end, nil
}

// call makes a call and decodes its answer where one is wanted.
func (m *Manager) call(ctx context.Context, method, path string, body map[string]any, answer any) error {
	var text []byte
	if body != nil {
		var err error
		if text, err = json.Marshal(body); err != nil {
			return fmt.Errorf("encode body: %w", err)
		}
	}
	got, err := m.send(ctx, method, path, text)
	if err == nil && answer != nil {
		err = json.Unmarshal(got, answer)
	}
	if err != nil {
		return fmt.Errorf("%s %s: %w", method, path, err)
	}
	return nil
}

func (m *Manager) send(ctx context.Context, method, path string, body []byte) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, method, "http://"+m.addr+"/api/v1"+path, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("make request: %w", err)
	}
	request.Header.Set("Content-Type", "application/json")
	if m.token != "" {
		request.Header.Set("Authorization", "Bearer "+m.token)
	}
	response, err := m.client.Do(request)
	if err != nil {
		return nil, fmt.Errorf("send request: %w", err)
	}
	defer response.Body.Close()
	got, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, fmt.Errorf("read answer: %w", err)
	}
	if response.StatusCode > 299 {
		return nil, fmt.Errorf("%s: %s", response.Status, got)
	}
	return got, nil
}

// CreateProject makes an empty project.
func (m *Manager) CreateProject(ctx context.Context, slug string) error {
	return m.call(ctx, http.MethodPost, "/projects", map[string]any{"slug": slug, "name": "Benchmark"}, nil)
}

// Apply applies a definition of so many mocks to a project, and returns how long that took.
func (m *Manager) Apply(ctx context.Context, slug string, mocks int) (time.Duration, error) {
	text, err := json.Marshal(definitionOf(mocks))
	if err != nil {
		return 0, fmt.Errorf("encode definition: %w", err)
	}
	began := time.Now()
	_, err = m.send(ctx, http.MethodPut, "/projects/"+slug+"/definition", text)
	return time.Since(began), err
}

// List reads the first page of a project's mocks, and returns how long that took.
func (m *Manager) List(ctx context.Context, slug string) (time.Duration, error) {
	began := time.Now()
	_, err := m.send(ctx, http.MethodGet, "/projects/"+slug+"/mocks", nil)
	return time.Since(began), err
}

// CreateReport is how single mocks were created.
type CreateReport struct {
	Created, Failed int64
	// Median and Slow are the 50th and the 99th percentile of their times.
	Median, Slow time.Duration
	PerSecond    float64
}

// Create lets writers create mocks in a project, each as fast as the server answers, so many in all.
func (m *Manager) Create(ctx context.Context, slug string, writers, count int) (CreateReport, error) {
	times := make([][]time.Duration, writers)
	failures := make([][]error, writers)
	mocks := Spec{Mocks: count}.mocks()
	var group sync.WaitGroup
	began := time.Now()
	for w := range writers {
		group.Go(func() {
			for i := w; i < count; i += writers {
				asked := time.Now()
				if _, err := m.send(ctx, http.MethodPost, "/projects/"+slug+"/mocks", mocks[i]); err != nil {
					failures[w] = append(failures[w], fmt.Errorf("create mock %s: %w", strconv.Itoa(i), err))
					continue
				}
				times[w] = append(times[w], time.Since(asked))
			}
		})
	}
	group.Wait()
	took := time.Since(began)
	var all []time.Duration
	var first error
	report := CreateReport{}
	for w := range writers {
		all = append(all, times[w]...)
		report.Failed += int64(len(failures[w]))
		if first == nil && len(failures[w]) > 0 {
			first = failures[w][0]
		}
	}
	if len(all) == 0 {
		return report, errors.Join(errors.New("no mock was created"), first)
	}
	report.Created, report.PerSecond = int64(len(all)), float64(len(all))/took.Seconds()
	report.Median, report.Slow = percentile(all, 50), percentile(all, 99)
	return report, nil
}
