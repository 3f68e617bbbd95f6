package management_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/google/go-cmp/cmp"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/management"
)

func document(t *testing.T) *openapi3.T {
	t.Helper()
	doc, err := apiDocument()
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

func TestM22_the_API_document_is_valid(t *testing.T) {
	t.Parallel()
	doc := document(t)
	if err := doc.Validate(t.Context()); err != nil {
		t.Error(err)
	}
	if !strings.HasPrefix(doc.OpenAPI, "3.1") {
		t.Errorf("version %s", doc.OpenAPI)
	}
}

func TestM22_the_API_document_and_the_route_table_name_the_same_operations(t *testing.T) {
	t.Parallel()
	written := map[string]string{}
	for path, item := range document(t).Paths.Map() {
		for method, operation := range item.Operations() {
			written[method+" "+path] = operation.OperationID
		}
	}
	registered := map[string]string{}
	for _, r := range management.Routes() {
		registered[r.Method+" "+r.Path] = r.Operation
	}
	if diff := cmp.Diff(registered, written); diff != "" {
		t.Errorf("operations (-route table +openapi.yaml):\n%s", diff)
	}
}

// Every parameter of a route stands in the document, and the document promises none that is refused.
func TestM22_the_API_document_and_the_route_table_know_the_same_parameters(t *testing.T) {
	t.Parallel()
	inPath := regexp.MustCompile(`\{(\w+)\}`)
	for _, r := range management.Routes() {
		item := document(t).Paths.Value(r.Path)
		written := map[string][]string{}
		for _, p := range append(slices.Clone(item.Parameters), item.GetOperation(r.Method).Parameters...) {
			written[p.Value.In] = append(written[p.Value.In], p.Value.Name)
		}
		var names []string
		for _, m := range inPath.FindAllStringSubmatch(r.Path, -1) {
			names = append(names, m[1])
		}
		for in, want := range map[string][]string{"query": slices.Clone(r.Query), "path": names} {
			got := written[in]
			slices.Sort(got)
			slices.Sort(want)
			if !slices.Equal(got, want) {
				t.Errorf("%s %s: %s parameters %q, the table has %q", r.Method, r.Path, in, got, want)
			}
		}
	}
}

// The document lists the statuses that its kind of route can have.
func TestM22_the_API_document_names_the_failures_of_each_route(t *testing.T) {
	t.Parallel()
	for _, r := range management.Routes() {
		operation := document(t).Paths.Value(r.Path).GetOperation(r.Method)
		want := []int{http.StatusInternalServerError}
		if strings.HasPrefix(r.Path, "/api/v1") {
			want = append(want, http.StatusTooManyRequests, http.StatusUnauthorized, http.StatusForbidden)
		}
		if r.Access == "admin" {
			want = append(want, http.StatusUnauthorized, http.StatusForbidden)
		}
		if strings.Contains(r.Path, "{project}") {
			want = append(want, http.StatusNotFound)
			if r.Method == http.MethodPut || r.Method == http.MethodPatch {
				want = append(want, http.StatusPreconditionFailed, http.StatusPreconditionRequired)
			}
		}
		if operation.RequestBody != nil {
			want = append(want, http.StatusUnsupportedMediaType, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity, http.StatusBadRequest)
		}
		for _, status := range want {
			if operation.Responses.Status(status) == nil {
				t.Errorf("%s %s: status %d is missing", r.Method, r.Path, status)
			}
		}
	}
}

func TestM245_the_document_is_served_as_JSON_and_as_YAML(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	asJSON := w.send(call{method: http.MethodGet, path: "/api/openapi.json"}).want(http.StatusOK)
	asYAML := w.send(call{method: http.MethodGet, path: "/api/openapi.yaml"}).want(http.StatusOK)
	tree, err := mockbase.ParseNode(asYAML.body, mockbase.FormatYAML, mockbase.ParseLimits{})
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.TrimSpace(string(asJSON.body)); got != string(tree.JSON()) {
		t.Error("the two differ")
	}
	if _, err := openapi3.NewLoader().LoadFromData(asJSON.body); err != nil {
		t.Error(err)
	}
}

func TestM22_a_route_without_rights_is_refused(t *testing.T) {
	t.Parallel()
	if err := management.RegisterWithoutAccess(); err == nil || !strings.Contains(err.Error(), "GET /open") {
		t.Errorf("registered: %v", err)
	}
}

// Each code that the plane answers with has a page and a status, and no status is out of range (rule M-6).
func TestM6_every_code_has_a_status(t *testing.T) {
	t.Parallel()
	statuses := management.Statuses()
	for code, status := range statuses {
		if status != 0 && (status < 400 || status > 599) {
			t.Errorf("code %s has status %d", code, status)
		}
	}
	for code, want := range map[mockbase.Code]int{
		mockbase.CodeMalformedBody: 400, mockbase.CodeInvalidParameter: 400, mockbase.CodeInvalidCursor: 400,
		mockbase.CodeUnauthenticated: 401, mockbase.CodeInvalidCredentials: 401, mockbase.CodeTokenExpired: 401,
		mockbase.CodeTokenRevoked: 401, mockbase.CodeRefreshReused: 401, mockbase.CodeForbidden: 403,
		mockbase.CodeSetupCodeInvalid: 403, mockbase.CodeOriginRefused: 403, mockbase.CodeHostRefused: 403,
		mockbase.CodeNotFound: 404, mockbase.CodeMethodNotAllowed: 405, mockbase.CodeNotAcceptable: 406,
		mockbase.CodeNameTaken: 409, mockbase.CodeSetupRequired: 409, mockbase.CodeAlreadySetUp: 409,
		mockbase.CodeManagedBySource: 409, mockbase.CodeApplyConflict: 409, mockbase.CodeQuotaReached: 409,
		mockbase.CodeIdempotencyRunning: 409, mockbase.CodeVersionMismatch: 412, mockbase.CodePreconditionRequired: 428,
		mockbase.CodeBodyTooLarge: 413, mockbase.CodeTargetTooLong: 414, mockbase.CodeUnsupportedMediaType: 415,
		mockbase.CodeHeadersTooLarge: 431, mockbase.CodeValidationFailed: 422, mockbase.CodePatchNotAllowed: 422,
		mockbase.CodeConfirmationRequired: 422, mockbase.CodeWeakPassword: 422, mockbase.CodeIdempotencyMismatch: 422,
		mockbase.CodeRateLimited: 429, mockbase.CodeInternal: 500, mockbase.CodeUnavailable: 503, mockbase.CodeBusy: 503,
	} {
		if statuses[code] != want {
			t.Errorf("code %s has status %d, want %d", code, statuses[code], want)
		}
	}
}

// The example of the specification's shapes: nothing but JSON leaves under a JSON type.
func TestM2_members_of_answers_are_camelCase(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	name := regexp.MustCompile(`^[a-z][a-zA-Z0-9]*$`)
	for _, path := range []string{"/api/v1/auth/status", "/api/v1/auth/me", "/api/v1/projects", "/api/v1/projects/shop", "/api/v1/projects/shop/traffic"} {
		var v any
		w.send(call{method: http.MethodGet, path: path, as: owner}).want(http.StatusOK).into(&v)
		for _, member := range memberNames(v) {
			if !name.MatchString(member) {
				t.Errorf("%s has a member %q", path, member)
			}
		}
	}
}

func memberNames(v any) []string {
	var names []string
	switch v := v.(type) {
	case map[string]any:
		names = slices.Collect(maps.Keys(v))
		for _, member := range v {
			names = append(names, memberNames(member)...)
		}
	case []any:
		for _, item := range v {
			names = append(names, memberNames(item)...)
		}
	case json.Number:
	}
	return names
}
