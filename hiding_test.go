package mockbase_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/mockbase/mockbase"
)

// secretive is a project with secret variables, and one that is none.
func secretive() *mockbase.Project {
	p := &mockbase.Project{VariableNotes: map[string]mockbase.VariableNote{}}
	for name, value := range map[string]string{"key": `"s3c\"r/t <ä>"`, "longer": `"s3c\"r/t <ä>!!"`, "pin": `94071122`, "short": `"abc"`, "on": "true"} {
		p.Config.Variables = append(p.Config.Variables, mockbase.Variable{Name: name, Value: json.RawMessage(value)})
		p.VariableNotes[name] = mockbase.VariableNote{Secret: true}
	}
	p.Config.Variables = append(p.Config.Variables, mockbase.Variable{Name: "open", Value: json.RawMessage(`"everybody"`)})
	return p
}

// Rules M-81 and M-195: a secret variable is told in none of the ways in which it is written.
func TestM195_secret_variables_are_hidden_however_they_are_written(t *testing.T) {
	t.Parallel()
	h := secretive().Hiding()
	for text, want := range map[string]string{
		`key=s3c"r/t <ä>.`:                          "key=***.",
		`{"a":"s3c\"r/t <ä>","b":1}`:                `{"a":"***","b":1}`,
		`{"a":"s3c\"r/t \u003cä\u003e"}`:            `{"a":"***"}`,
		"/a?k=s3c%22r%2Ft+%3C%C3%A4%3E&b=1":         "/a?k=***&b=1",
		"/a/s3c%22r%2Ft%20%3C%C3%A4%3E/b":           "/a/***/b",
		"Basic czNjInIvdCA8w6Q+ and":                "Basic *** and",
		`s3c"r/t <ä>!!`:                             "***",
		"pin 94071122":                              "pin ***",
		`S3C"R/T <Ä> or s3c"r/t <ä>`:                "*** or ***",
		"Basic dTo5NDA3MTEyMg== and":                "Basic dTo***g== and", // u:94071122
		"Basic dXM6OTQwNzExMjI= and":                "Basic dXM6*** and",   // us:94071122
		"Basic dXNyOjk0MDcxMTIy and":                "Basic dXNyOj*** and", // usr:94071122
		"abc, true and everybody are no such thing": "abc, true and everybody are no such thing",
		"": "",
	} {
		if got := h.Text(text); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
		if got := string(h.Bytes([]byte(text))); got != want {
			t.Errorf("%q became %q in bytes, want %q", text, got, want)
		}
	}
	if got := string(h.JSON([]byte(`{"n":94071122,"s":["94071122"],"94071122":1}`))); got != `{"n":94071122,"s":["***"],"***":1}` {
		t.Errorf("JSON became %s", got)
	}
	var none *mockbase.Hiding
	if none.Text("a") != "a" || string(none.Bytes([]byte("a"))) != "a" || string(none.JSON([]byte("1"))) != "1" || (&mockbase.Project{}).Hiding() != nil {
		t.Error("nothing to hide hides something")
	}
}

func TestM195_secret_variables_are_in_no_part_of_an_exchange(t *testing.T) {
	t.Parallel()
	const secret = "94071122"
	x := &mockbase.Exchange{
		Request: mockbase.RecordedRequest{
			Target: "/a/" + secret + "?b=" + secret, Path: "/a/" + secret, RawQuery: "b=" + secret, Header: http.Header{"X-A": {secret}}, Body: []byte(secret),
		},
		Response:   mockbase.RecordedResponse{Header: http.Header{"X-K": {"is " + secret}}, Body: []byte("key=" + secret)},
		Limits:     []mockbase.LimitOutcome{{Key: secret}},
		Messages:   []mockbase.RecordedMessage{{Data: []byte(secret)}},
		Webhooks:   []mockbase.RecordedWebhook{{URL: "http://a/" + secret, Error: secret, Attempts: []mockbase.RecordedAttempt{{Body: []byte(secret), Error: secret}}}},
		NearMisses: []mockbase.NearMiss{{Failed: []mockbase.MissedPart{{Expected: secret, Actual: secret}}}},
		Violations: []mockbase.Violation{{Message: secret}},
		Hints:      []string{secret}, Warnings: []string{secret}, Error: secret, ClientKey: secret, Client: mockbase.Client{UserAgent: secret},
	}
	before := fmt.Sprintf("%+v", x)
	h := secretive().Hiding()
	got := h.Exchange(x)
	if shown := fmt.Sprintf("%+v %s %s", got, got.Request.Body, got.Response.Body) + fmt.Sprintf("%s %s", got.Messages[0].Data, got.Webhooks[0].Attempts[0].Body); strings.Contains(shown, secret) || !got.Redacted {
		t.Errorf("shown is %s", shown)
	}
	if after := fmt.Sprintf("%+v", x); after != before {
		t.Errorf("what is kept became %s", after)
	}
	plain := &mockbase.Exchange{Error: "none"}
	if h.Exchange(plain) != plain {
		t.Error("an exchange without secrets was copied")
	}
}
