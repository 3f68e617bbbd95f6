package main

import (
	"encoding/json"
	"net/http"
	"testing"
)

// Y11 and M-41: mocks of a project that asks for a token answer with a public one of that project alone.
func TestY11_M41_mocks_that_ask_for_a_token(t *testing.T) {
	t.Parallel()
	server, api := maintained(t, t.TempDir())
	for _, slug := range []string{"shop", "other"} {
		api.call(t, http.StatusCreated, http.MethodPost, "/api/v1/projects", `{"slug":"`+slug+`","name":"x","access":"token"}`)
	}
	api.call(t, http.StatusCreated, http.MethodPost, "/api/v1/projects/shop/mocks", `{"request":"GET /hello","response":{"text":"hi"}}`)
	made := func(body string) (id, token string) {
		var answer struct {
			ID    string `json:"id"`
			Token string `json:"token"`
		}
		if err := json.Unmarshal([]byte(api.call(t, http.StatusCreated, http.MethodPost, "/api/v1/tokens", body).body), &answer); err != nil {
			t.Fatal(err)
		}
		return answer.ID, answer.Token
	}
	id, good := made(`{"name":"a","kind":"public","projects":["shop"]}`)
	_, foreign := made(`{"name":"b","kind":"public","projects":["other"]}`)
	_, service := made(`{"name":"c","kind":"service","scopes":["mocks:read"],"projects":["shop"]}`)
	_, elsewhere := made(`{"name":"d","kind":"public","projects":["shop"],"allowedIps":["192.0.2.1"]}`)
	ask := func(method string, header map[string]string) int {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, server.URL+"/m/shop/hello", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		for name, value := range header {
			r.Header.Set(name, value)
		}
		answer, err := api.http.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		return answer.StatusCode
	}
	for name, c := range map[string]struct {
		method string
		header map[string]string
		want   int
	}{
		"its token":         {http.MethodGet, map[string]string{"Mockbase-Token": good}, http.StatusOK},
		"none":              {http.MethodGet, nil, http.StatusUnauthorized},
		"of another":        {http.MethodGet, map[string]string{"Mockbase-Token": foreign}, http.StatusUnauthorized},
		"a service token":   {http.MethodGet, map[string]string{"Mockbase-Token": service}, http.StatusUnauthorized},
		"another address":   {http.MethodGet, map[string]string{"Mockbase-Token": elsewhere}, http.StatusUnauthorized},
		"another header":    {http.MethodGet, map[string]string{"Authorization": "Bearer " + good}, http.StatusUnauthorized},
		"an access token":   {http.MethodGet, map[string]string{"Mockbase-Token": api.token}, http.StatusUnauthorized},
		"a preflight":       {http.MethodOptions, map[string]string{"Origin": "http://o.test", "Access-Control-Request-Method": "GET"}, http.StatusNoContent},
		"no path is exempt": {http.MethodPost, nil, http.StatusUnauthorized},
	} {
		if got := ask(c.method, c.header); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
	api.call(t, http.StatusNoContent, http.MethodDelete, "/api/v1/tokens/"+id, "")
	if got := ask(http.MethodGet, map[string]string{"Mockbase-Token": good}); got != http.StatusUnauthorized {
		t.Errorf("a deleted token: %d", got)
	}
}
