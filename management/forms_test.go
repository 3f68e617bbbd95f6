package management_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/mockbase/mockbase"
)

// What a client reads of a secret it may send back.
func TestM196_a_mask_keeps_the_secret_that_it_stands_for(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const k = "/projects/shop/variables/k7"
	for _, body := range []string{`{"value":"********","secret":true}`, `{"value":"********","secret":false}`, `{"value":"********"}`} {
		got := w.do("PUT", k, editor, body).want(422, mockbase.CodeValidationFailed)
		if !strings.Contains(string(got.body), "#/value") {
			t.Errorf("%s: %s", body, got.body)
		}
	}
	w.do("PUT", k, editor, `{"value":"open sesame","secret":true}`).want(201)
	for _, body := range []string{`{"value":"********","secret":true}`, `{"value":"********"}`} {
		if got := w.do("PUT", k, editor, body).want(200).json(); got["version"] != 1.0 || got["secret"] != true {
			t.Errorf("%s: %v", body, got)
		}
	}
	w.do("PUT", k, editor, `{"value":"********","secret":false}`).want(422, mockbase.CodeValidationFailed)
	found, _ := w.catalog.Project("shop")
	if got := string(found.Project.Config.Variables[0].Value); got != `"open sesame"` {
		t.Errorf("stored %s", got)
	}
}

// Who may not make the project gets the same answer for one that is there and one that is not.
func TestM14_a_definition_tells_nobody_of_foreign_projects(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	readers := w.addToken("tok_reader", mockbase.TokenPersonal, member, "mocks:read")
	writers := w.addToken("tok_writer", mockbase.TokenPersonal, member, "mocks:write")
	for _, bearer := range []string{readers, writers, w.token(member)} {
		for _, query := range []string{"", "?createProject=false", "?createProject=true", "?nonsense=1", "?createProject=true&nonsense=1"} {
			if bearer == w.token(member) && strings.Contains(query, "createProject=true") {
				continue // they may make it
			}
			var answers []string
			for _, slug := range []string{"shop", "nowhere"} {
				got := w.send(call{method: http.MethodPut, path: "/api/v1/projects/" + slug + "/definition" + query, bearer: bearer, body: `{"mocks":[]}`})
				answers = append(answers, strings.ReplaceAll(string(got.want(404).body), got.json()["requestId"].(string), "id"))
			}
			if answers[0] != answers[1] {
				t.Errorf("%s: %s\n%s", query, answers[0], answers[1])
			}
		}
	}
}

func TestM12_another_query_is_another_request(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	send := func(query string) *reply {
		return w.send(call{
			method: http.MethodPost, path: documentsPath + query, as: editor, kind: "application/yaml", body: petstore,
			header: map[string]string{"Idempotency-Key": "k"},
		})
	}
	send("?name=a").want(http.StatusCreated)
	send("?name=b").want(http.StatusUnprocessableEntity, mockbase.CodeIdempotencyMismatch)
	send("").want(http.StatusUnprocessableEntity, mockbase.CodeIdempotencyMismatch)
	if got := send("?name=a").want(http.StatusCreated); got.header.Get("Idempotency-Replayed") != "true" {
		t.Error("the same request ran again")
	}
}

// The form of If-Match is that of RFC 9110, section 13.1.1.
func TestM10_no_ETag_is_that_of_an_object_without_versions(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, c := range []struct{ method, path, body string }{
		{http.MethodPatch, "/users/" + w.users[viewer].ID, `{"name":"Other"}`},
		{http.MethodPatch, "/auth/me", `{"name":"Other"}`},
		{http.MethodPut, "/projects/shop/members/" + w.users[viewer].ID, `{"role":"editor"}`},
		{http.MethodDelete, "/projects/shop/members/" + w.users[viewer].ID, ""},
		{http.MethodDelete, "/projects/shop/traffic", ""},
	} {
		sent := call{method: c.method, path: "/api/v1" + c.path, as: admin, body: c.body, header: map[string]string{"If-Match": `"v1"`}}
		if c.method == http.MethodPatch {
			sent.kind = "application/merge-patch+json"
		}
		w.send(sent).want(http.StatusPreconditionFailed, mockbase.CodeVersionMismatch)
		sent.header["If-Match"] = "*"
		if got := w.send(sent); got.status > 299 {
			t.Errorf("%s %s with a star: %d %s", c.method, c.path, got.status, got.body)
		}
	}
}

func TestM10_If_Match_has_the_form_of_ETags(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.addMock(`{"name":"hello","request":"GET /hello","response":{}}`)
	body := `{"request":"GET /hello","response":{}}`
	put := func(form string) *reply {
		return w.send(call{method: http.MethodPut, path: mocksPath + "/hello", as: editor, body: body, header: map[string]string{"If-Match": form}})
	}
	for _, form := range []string{`v1`, `1`, `"v1`, `v1"`, `W/v1`, `"v1" "v2"`, `"v9", v1`, `'v1'`} {
		got := put(form).want(http.StatusBadRequest, mockbase.CodeInvalidParameter)
		if !strings.Contains(string(got.body), `If-Match: \"v7\"`) {
			t.Errorf("%s: %s", form, got.body)
		}
	}
	put(`W/"v1"`).want(http.StatusPreconditionFailed)
	put(`"other"`).want(http.StatusPreconditionFailed)
	put(`"v9", "v1"`).want(http.StatusOK)
	put(`*`).want(http.StatusOK)
}
