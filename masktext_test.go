package mockbase_test

import (
	"strings"
	"testing"

	"github.com/mockbase/mockbase"
)

func TestM2_secrets_of_texts_are_masked_by_what_they_look_like(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{login(password:"X", user: "a")}`:                                                `{login(password:"***", user: "a")}`,
		`{login(in: {user: "a", apiKey: 12})}`:                                            `{login(in: {user: "a", apiKey: "***"})}`,
		`{login(password: """X "q" """, n: 1)}`:                                           `{login(password: "***", n: 1)}`,
		`query ($password: [String!] = ["X"]) {a}`:                                        `query ($password: [String!] = "***") {a}`,
		`query ($token: String!) {token: a(token: $token) {b}}`:                           `query ($token: String!) {token: a(token: $token) {b}}`,
		`{"query":"{login(password:\"X\")}","n":1}`:                                       `{"query":"{login(password:\"***\")}","n":1}`,
		`"{login(password:\"X\")}"`:                                                       `"{login(password:\"***\")}"`,
		`{"query":"{login(password:\"X`:                                                   `{"query":"{login(password:\"***\""`,
		`{"query":"{login(password:\"X\`:                                                  `{"query":"{login(password:\"***\""`,
		`<a><password>X</password><b>1</b></a>`:                                           `<a><password>***</password><b>1</b></a>`,
		`<a><s:token i="1">X<token/></s:token></a>`:                                       `<a><s:token i="1">***</s:token></a>`,
		`<a><token>x<token>X</token>X</token>y</a>`:                                       `<a><token>***</token>y</a>`,
		`<a apiKey = 'X' b="1"/>`:                                                         `<a apiKey = '***' b="1"/>`,
		`<a><token><![CDATA[</token>X]]></token></a>`:                                     `<a><token>***</token></a>`,
		`<a><!-- <token>c --><token/><b>1</b></a>`:                                        `<a><!-- <token>c --><token/><b>1</b></a>`,
		`<a><password>X`:                                                                  `<a><password>***`,
		"--b\r\nContent-Disposition: form-data; name=\"pw_secret\"\r\n\r\nX\r\n--b--\r\n": "--b\r\nContent-Disposition: form-data; name=\"pw_secret\"\r\n\r\n***\r\n--b--\r\n",
		`key: {a: 1}`: `key: {a: 1}`,
		`<`:           `<`,
		`</`:          `</`,
		`<token`:      `<token`,
	} {
		if got := mockbase.MaskText(text); got != want {
			t.Errorf("%s\n got %s\nwant %s", text, got, want)
		}
	}
}

func TestM2_secrets_within_parameters_are_masked(t *testing.T) {
	t.Parallel()
	for target, want := range map[string]string{
		`/a?query={login(password:"X")}&b=1`:              `/a?query={login(password:"***")}&b=1`,
		`/a?b=1&variables=%7B%22password%22%3A%22X%22%7D`: `/a?b=1&variables=%7B%22password%22%3A%22***%22%7D`,
		`/a?query={login(name:"X")}`:                      `/a?query={login(name:"X")}`,
	} {
		if got := mockbase.MaskTarget(target); got != want {
			t.Errorf("%s\n got %s\nwant %s", target, got, want)
		}
	}
}

func FuzzMaskText(f *testing.F) {
	for _, text := range []string{`{a(token:"x")}`, `<a token="x"><password>y</password></a>`, "--b\n\nx", `{"q":"{a(token:1)}"}`, `"{\`} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if masked := mockbase.MaskText(text); masked != text && !strings.Contains(masked, mockbase.Mask) {
			t.Errorf("%q became %q", text, masked)
		}
	})
}
