package auth

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/mockbase/mockbase"
)

// The lengths of a password (rule M-36). Length is what makes a password hard to guess; there are no rules about kinds
// of characters.
const (
	MinPassword = 15
	MaxPassword = 256

	// maxPasswordBytes is what MaxPassword characters take at most in UTF-8.
	maxPasswordBytes = 4 * MaxPassword
)

// commonPasswords are long passwords that stand on every guesser's list, one a line, in lower case, sorted.
//
//go:embed common.txt
var commonPasswords string

// CheckPassword tells whether a new password is good enough for the account with this e-mail address (rule M-36). The
// error is CodeWeakPassword with one field error at pointer.
func CheckPassword(pointer, password, email string) error {
	code, reason := weakness(norm.NFC.String(password), email)
	if reason == "" {
		return nil
	}
	return &mockbase.Error{
		Code: mockbase.CodeWeakPassword, Message: "the password " + reason,
		Hint:   "a few unrelated words are long enough and easy to remember",
		Fields: []mockbase.FieldError{{Pointer: pointer, Code: code, Detail: reason}},
	}
}

func weakness(password, email string) (mockbase.Code, string) {
	length := utf8.RuneCountInString(password)
	folded := strings.ToLower(password)
	switch {
	case !utf8.ValidString(password):
		return mockbase.FieldPattern, "is not text in UTF-8"
	case length < MinPassword:
		return mockbase.FieldRange, fmt.Sprintf("has %d characters, at least %d are needed", length, MinPassword)
	case length > MaxPassword:
		return mockbase.FieldRange, fmt.Sprintf("has %d characters, at most %d are allowed", length, MaxPassword)
	case folded == strings.ToLower(email):
		return mockbase.FieldPattern, "is the e-mail address"
	case repeats([]rune(folded)):
		return mockbase.FieldPattern, "is one pattern repeated"
	case common(folded):
		return mockbase.FieldPattern, "is on the list of common passwords"
	}
	return "", ""
}

// repeats tells whether text is a shorter piece written twice or more, the last time perhaps in part. It finds the
// smallest period by the failure function of Knuth, Morris and Pratt.
func repeats(text []rune) bool {
	border := make([]int, len(text))
	for i := 1; i < len(text); i++ {
		k := border[i-1]
		for k > 0 && text[i] != text[k] {
			k = border[k-1]
		}
		if text[i] == text[k] {
			k++
		}
		border[i] = k
	}
	period := len(text) - border[len(text)-1]
	return 2*period <= len(text)
}

func common(folded string) bool {
	_, found := slices.BinarySearch(strings.Fields(commonPasswords), folded)
	return found
}
