package management_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/mockbase/mockbase/management"
)

// Secret variables are told by their flag, whatever they are called, on every change that is made after them.
func TestM20_a_secret_variable_stands_nowhere_in_the_log(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.do("PUT", "/projects/shop/variables/payKey", editor, `{"value":"LEAKME-123","secret":true}`).want(201)
	w.do("PUT", "/projects/shop/variables/payKey", editor, `{"value":"LEAKME-456"}`).want(200)
	w.do("PUT", "/projects/shop/variables/plain", editor, `{"value":"seen"}`).want(201)
	w.do("PUT", "/projects/shop/definition", owner, `{"variables":{"a":"LEAKNOT","b":2},"mocks":[]}`).want(200)
	w.send(call{method: http.MethodPost, path: documentsPath + "?name=pets", as: editor, kind: "application/yaml", body: petstore}).want(http.StatusCreated)
	w.send(call{method: http.MethodPatch, path: shopPath, as: owner, kind: "application/merge-patch+json", body: `{"name":"Other"}`}).want(http.StatusOK)
	w.do("PUT", "/projects/shop/variables/payKey", editor, `{"value":"LEAKME-456","secret":false}`).want(200)
	w.do("PUT", "/projects/shop/variables/payKey", editor, `{"value":"LEAKME-789","secret":true}`).want(200)
	w.do("POST", "/projects/shop/sessions", editor, `{"name":"ci","variables":{"payKey":"LEAKME-000"}}`).want(201)
	w.do("DELETE", "/projects/shop/variables/payKey", editor, "").want(204)
	w.do("DELETE", "/projects/shop/documents/pets", editor, "").want(204)
	log := string(w.do("GET", "/projects/shop/audit", owner, "").want(200).body)
	if strings.Contains(log, "LEAKME") || !strings.Contains(log, "seen") {
		t.Errorf("log %s", log)
	}
}

func TestM20_the_target_is_what_was_changed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.do("PUT", "/projects/shop/variables/greeting", editor, `{"value":"hi"}`).want(201)
	w.do("DELETE", "/projects/shop/variables/greeting", editor, "").want(204)
	long := petstore + "x-long: " + strings.Repeat("x", 80<<10) + "\n"
	w.send(call{method: http.MethodPost, path: documentsPath + "?name=pets", as: editor, kind: "application/yaml", body: long}).want(http.StatusCreated)
	w.do("DELETE", "/projects/shop/documents/pets", editor, "").want(204)
	w.do("PUT", "/projects/shop/definition", owner, `{"variables":{"big":"`+strings.Repeat("y", 70<<10)+`","b":2},"mocks":[]}`).want(200)
	w.do("POST", "/projects/shop/sessions", editor, `{"name":"ci"}`).want(201)
	var log struct {
		Items []struct {
			Action string
			Target struct{ Type, ID, Name, Project string }
			After  struct{ Changed []string }
		}
	}
	w.do("GET", "/projects/shop/audit", owner, "").want(200).into(&log)
	got := make([]string, 0, len(log.Items))
	for _, item := range log.Items {
		if item.Target.Project != w.shop.ID {
			t.Errorf("%s belongs to %q", item.Action, item.Target.Project)
		}
		got = append(got, item.Action+" "+item.Target.Type+" "+item.Target.Name+" "+strings.Join(item.After.Changed, ","))
	}
	want := []string{
		"createSession session ci ", "applyDefinition project shop variables/big,variables/b", "deleteDocument document pets ",
		"createDocument document pets ", "deleteVariable variable greeting ", "setVariable variable greeting ",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("targets\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestM20_control_characters_of_labels_are_escaped(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"ada@example.com": "ada@example.com", "é@x": "é@x", "a\nb": `a\nb`, "a\x1b[2Jb": `a\x1b[2Jb`, "a\u202eb": `a\u202eb`, "a\u2028b": `a\u2028b`,
	} {
		if got := management.Escaped(text); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}
