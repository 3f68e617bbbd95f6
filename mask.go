package mockbase

import (
	"encoding/json"
	"slices"
	"strings"
)

// Masked stands for a secret that is not shown.
const Masked = "***"

// maxMasked is the longest document that is kept in an audit entry, in bytes.
const maxMasked = 64 << 10

// MaskSecrets writes a JSON document with its secrets masked: the values of members that are called like a secret, and the
// value of whatever says that it is secret. So are the members of these further names. What is no JSON, or too long to be looked through by a person, is left out.
func MaskSecrets(document []byte, names ...string) json.RawMessage {
	if len(document) == 0 {
		return nil
	}
	if len(document) > maxMasked {
		return json.RawMessage(`{"truncated":true}`)
	}
	root, err := ParseNode(document, FormatJSON, ParseLimits{})
	if err != nil {
		return nil
	}
	maskNode(root, names)
	return root.JSON()
}

// maskNode masks the secrets of a tree that is nobody else's.
func maskNode(n *Node, names []string) {
	secret := n.Find("secret")
	isSecret := secret != nil && secret.Kind == NodeBool && secret.Text == "true"
	for i := range n.Members {
		m := &n.Members[i]
		hidden := isSecret && m.Key == "value" || secretName(m.Key) && m.Value.Kind != NodeBool || slices.Contains(names, m.Key)
		if hidden && m.Value.Kind != NodeNull {
			m.Value = &Node{Kind: NodeText, Text: Masked}
		} else {
			maskNode(m.Value, names)
		}
	}
	for _, item := range n.Items {
		maskNode(item, names)
	}
}

// secretName tells whether a member is called like a secret, in whatever letter case and with whatever between the words.
func secretName(name string) bool {
	plain := plainName(name)
	if plain == "code" || plain == "cookie" || plain == "setcookie" || plain == "bearer" {
		return true
	}
	for _, part := range [...]string{"password", "passwd", "secret", "token", "authorization", "apikey", "credential", "privatekey"} {
		if strings.Contains(plain, part) {
			return true
		}
	}
	return false
}

// plainName is a name in small letters without hyphens and low lines. Most are that already.
func plainName(name string) string {
	if strings.ContainsAny(name, "-_") {
		name = strings.ReplaceAll(strings.ReplaceAll(name, "-", ""), "_", "")
	}
	return strings.ToLower(name)
}
