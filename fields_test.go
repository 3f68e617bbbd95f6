package mockbase_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mockbase/mockbase"
)

// account is what the example object of these tests is read into.
type account struct {
	Email    string
	Age      int
	Balance  int64
	Share    json.Number
	Admin    bool
	TTL      time.Duration
	Scopes   []string
	Extra    json.RawMessage
	Street   string
	Children []string
}

func readAccount(src string) (account, []mockbase.FieldError) {
	var a account
	faults := &mockbase.Faults{}
	n, err := mockbase.ParseNode([]byte(src), mockbase.FormatJSON, mockbase.ParseLimits{})
	if err != nil {
		panic(err)
	}
	f := mockbase.NewFields(n, "#", faults)
	f.Text("email", &a.Email)
	f.Int("age", &a.Age, 0, 150)
	f.Int64("balance", &a.Balance, -1<<63, 1<<63-1)
	f.Number("share", &a.Share)
	f.Bool("admin", &a.Admin)
	f.Duration("ttl", &a.TTL)
	f.Texts("scopes", &a.Scopes)
	f.Raw("extra", &a.Extra)
	if address := f.Object("address"); address != nil {
		address.Text("street", &a.Street)
		address.Done()
	}
	for _, child := range f.Objects("children") {
		var name string
		child.Text("name", &name)
		child.Required("name")
		child.Done()
		a.Children = append(a.Children, name)
	}
	f.ReadOnly("id", "createdAt")
	f.Required("email")
	f.Done()
	return a, faults.Fields()
}

func TestFieldsReadEveryKindOfMember(t *testing.T) {
	t.Parallel()
	got, faults := readAccount(`{"email":"ada@example.com","age":3.6e1,"balance":-9223372036854775808,"share":2.50,"admin":true,"ttl":"1m30s",
		"scopes":["a","b"],"extra":{"z":1.0,"a":[null]},"address":{"street":"x"},"children":[{"name":"n1"},{"name":"n2"}],"id":7,"createdAt":null}`)
	want := account{
		Email: "ada@example.com", Age: 36, Balance: -1 << 63, Share: "2.50", Admin: true, TTL: 90 * time.Second,
		Scopes: []string{"a", "b"}, Extra: json.RawMessage(`{"z":1.0,"a":[null]}`), Street: "x", Children: []string{"n1", "n2"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if len(faults) != 0 {
		t.Errorf("faults: %s", faultLines(faults))
	}
}

func TestM8_an_unknown_member_is_an_error_with_a_suggestion(t *testing.T) {
	t.Parallel()
	cases := []struct{ name, src, want string }{
		{"misspelt", `{"email":"a","agge":1}`, `1:14: #/agge: unknown key, did you mean "age"? [unknown_key]`},
		{"misspelt and required: one fault", `{"emial":"a"}`, `1:2: #/emial: unknown key, did you mean "email"? [unknown_key]`},
		{"nothing near", `{"email":"a","~/ü":1}`, `1:14: #/~0~1%C3%BC: unknown key: known here are ` +
			`email, age, balance, share, admin, ttl, scopes, extra, address, children, id, createdAt [unknown_key]`},
		{"missing", `{}`, `1:1: #/email: is missing [required]`},
		{"no object", `[]`, `1:1: #: must be an object, found a list [type]`},
		{"nothing", `null`, `1:1: #: must be an object, found nothing (null) [type]`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, faults := readAccount(c.src)
			if diff := cmp.Diff(c.want+"\n", string(faultLines(faults))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestY3_every_wrong_member_is_reported_in_the_order_of_the_text(t *testing.T) {
	t.Parallel()
	_, faults := readAccount(`{"children":[7,{"nam":"x"}],"address":"y","scopes":["a",1,null],"ttl":5,"admin":"yes","share":"1","balance":9223372036854775808,
"age":151,"email":7}`)
	want := `1:14: #/children/0: must be an object, found 7 [type]
1:17: #/children/1/nam: unknown key, did you mean "name"? [unknown_key]
1:39: #/address: must be an object, found the text "y" [type]
1:57: #/scopes/1: must be a text, found 1 [type]
1:59: #/scopes/2: must be a text, found nothing (null) [type]
1:71: #/ttl: must be a duration, found 5: add a unit, as in "5s" [type]
1:81: #/admin: must be a boolean, found the text "yes": write true or false without quotes [type]
1:95: #/share: must be a number, found the text "1": write it without quotes [type]
1:109: #/balance: must be at least -9223372036854775808, found 9223372036854775808 [range]
2:7: #/age: must be from 0 to 150, found 151 [range]
2:19: #/email: must be a text, found 7: put it in quotes [type]
`
	if diff := cmp.Diff(want, string(faultLines(faults))); diff != "" {
		t.Error(diff)
	}
}

func TestAWholeNumberMayBeWrittenInAnyWay(t *testing.T) {
	t.Parallel()
	cases := []struct {
		text string
		want int64
		code mockbase.Code
	}{
		{"0", 0, ""},
		{"-0", 0, ""},
		{"0e9", 0, ""},
		{"0.000", 0, ""},
		{"2.0", 2, ""},
		{"-20e-1", -2, ""},
		{"1.5e1", 15, ""},
		{"1e3", 1000, ""},
		{"9223372036854775807.0", 1<<63 - 1, ""},
		{"-9223372036854775808", -1 << 63, ""},
		{"1.5", 0, mockbase.FieldType},
		{"1e-1", 0, mockbase.FieldType},
		{"1e-99999999999999999999", 0, mockbase.FieldType},
		{"9223372036854775808", 0, mockbase.FieldRange},
		{"1e19", 0, mockbase.FieldRange},
		{"1e1000000000", 0, mockbase.FieldRange},
		{"1e99999999999999999999", 0, mockbase.FieldRange},
		{strings.Repeat("9", 10_000), 0, mockbase.FieldRange},
	}
	for _, c := range cases {
		n, err := mockbase.ParseNode([]byte(`{"n":`+c.text+`}`), mockbase.FormatJSON, mockbase.ParseLimits{})
		if err != nil {
			t.Fatal(err)
		}
		faults := &mockbase.Faults{}
		var got int64
		mockbase.NewFields(n, "#", faults).Int64("n", &got, -1<<63, 1<<63-1)
		var code mockbase.Code
		if faults.Len() > 0 {
			code = faults.Fields()[0].Code
		}
		if got != c.want || code != c.code {
			t.Errorf("%.30s is %d with code %q, want %d with %q", c.text, got, code, c.want, c.code)
		}
	}
}

func TestM5_at_most_a_hundred_faults_are_reported(t *testing.T) {
	t.Parallel()
	var src strings.Builder
	src.WriteString("mocks:\n")
	for i := range 2000 {
		fmt.Fprintf(&src, "  - { request: GET /%d, response: { status: 99 } }\n", i)
	}
	_, err := mockbase.DecodeDefinition([]byte(src.String()), mockbase.FormatYAML)
	checkFaults(t, []byte(src.String()), err)
	if code := mockbase.ErrorCode(err); code != mockbase.CodeValidationFailed {
		t.Errorf("code is %s", code)
	}
	if want := "validation-failed: 100 faults, the first: /mocks/0/response/status: must be from 200 to 999, found 99"; err.Error() != want {
		t.Errorf("error is %s", err)
	}
}

func TestNoFaultsAreNoError(t *testing.T) {
	t.Parallel()
	if err := (&mockbase.Faults{}).Err(); err != nil {
		t.Error(err)
	}
}
