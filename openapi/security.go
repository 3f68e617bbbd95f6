package openapi

import (
	"encoding/base64"
	"net/http"
	"slices"
	"strings"

	"github.com/mockbase/mockbase"
)

// requirement is one way to be let in: all schemes together (rule W46). An empty one lets everybody in.
type requirement []neededScheme

// neededScheme is a scheme with the scopes that the operation asks for.
type neededScheme struct {
	name   string
	scopes []string
	scheme place
}

// readSecurity reads the requirements of an operation; none lets everybody in.
func (op *operation) readSecurity() []requirement {
	top := op.document.source.top()
	at := op.at.find("security")
	if at.node == nil {
		at = top.find("security")
	}
	schemes := top.find("components").find("securitySchemes")
	if op.document.source.dialect == dialect20 {
		schemes = top.find("securityDefinitions")
	}
	var list []requirement
	for _, item := range at.items() {
		own := requirement{}
		for _, m := range item.members() {
			scheme, ok := op.document.source.follow(schemes.find(m.name))
			if !ok {
				op.document.source.notes.add(m.place, mockbase.FieldReference, "the security scheme "+quoted(m.name)+" is not defined; it asks for nothing")
				continue
			}
			needed := neededScheme{name: m.name, scheme: scheme}
			for _, scope := range m.items() {
				needed.scopes = append(needed.scopes, scope.node.Text)
			}
			own = append(own, needed)
		}
		list = append(list, own)
	}
	return list
}

// checkSecurity tells why nobody is let in; nil lets the request in.
func (r *reading) checkSecurity() *refusal {
	list := r.operation.security
	if len(list) == 0 {
		return nil
	}
	status := http.StatusUnauthorized
	var challenges []string
	for _, one := range list {
		missing, forbidden := r.lacks(one)
		if len(missing) == 0 && !forbidden {
			return nil
		}
		if len(missing) == 0 {
			status = http.StatusForbidden
		}
		for _, challenge := range missing {
			if !slices.Contains(challenges, challenge) {
				challenges = append(challenges, challenge)
			}
		}
	}
	refused := &refusal{
		status: status, declared: []int{status},
		violations: violation("security", codeSecurity, "the credentials are missing or wrong: wanted is "+r.operation.credentialsWanted()),
	}
	if status == http.StatusForbidden {
		refused.violations[0].Message = "the credentials lack a scope"
		return refused
	}
	refused.header = []mockbase.Header{{Name: "WWW-Authenticate", Values: challenges}}
	return refused
}

// credentialsWanted says what lets a request in, one way after another.
func (op *operation) credentialsWanted() string {
	ways := make([]string, len(op.security))
	for i, one := range op.security {
		var all []string
		for at := range one {
			all = append(all, one[at].wanted())
		}
		ways[i] = strings.Join(all, " with ")
	}
	return strings.Join(ways, ", or ")
}

// wanted says where a scheme looks for credentials.
func (n *neededScheme) wanted() string {
	if strings.EqualFold(n.scheme.text("type"), "apikey") {
		in := n.scheme.text("in")
		if in == inQuery {
			in = "query parameter"
		}
		return "the " + in + " " + quoted(n.scheme.text("name"))
	}
	kind, _, _ := strings.Cut(n.challenge(), " ")
	return "Authorization: " + kind
}

// lacks lists the challenges of schemes that are not met. forbidden tells that credentials are right and lack a scope.
func (r *reading) lacks(one requirement) (challenges []string, forbidden bool) {
	for i := range one {
		needed := &one[i]
		given, ok := r.presented(needed.scheme)
		known := r.operation.document.credentials(needed.name)
		at := slices.IndexFunc(known, func(c mockbase.Credential) bool {
			return c.Value == given || needed.basic() && c.Value == decodedBasic(given)
		})
		switch {
		case !ok || len(known) > 0 && at < 0:
			challenges = append(challenges, needed.challenge())
		case at >= 0 && !subset(needed.scopes, known[at].Scopes):
			forbidden = true
		}
	}
	return challenges, forbidden
}

func subset(wanted, given []string) bool {
	return !slices.ContainsFunc(wanted, func(scope string) bool { return !slices.Contains(given, scope) })
}

// credentials are the values that a scheme takes; none takes all.
func (d *Document) credentials(scheme string) []mockbase.Credential {
	return slices.DeleteFunc(slices.Clone(d.options.Credentials), func(c mockbase.Credential) bool { return c.Scheme != scheme })
}

// presented finds the credentials of a scheme in a request. They must be well-formed.
func (r *reading) presented(scheme place) (value string, ok bool) {
	switch kind := strings.ToLower(scheme.text("type")); kind {
	case "apikey":
		return r.apiKey(scheme)
	case "http":
		return r.authorization(strings.ToLower(scheme.text("scheme")))
	case "basic":
		return r.authorization("basic")
	case "oauth2", "openidconnect":
		return r.authorization("bearer")
	default:
		// What TLS has checked, or what is not known, is not asked for here.
		return "", true
	}
}

func (r *reading) apiKey(scheme place) (value string, ok bool) {
	name := scheme.text("name")
	switch scheme.text("in") {
	case inHeader:
		value = r.Header.Get(name)
	case inCookie:
		if list := named(r.cookiePairs(), name); len(list) > 0 {
			value = list[0].value
		}
	default:
		if list := named(r.query, name); len(list) > 0 {
			value = decodedForm(list[0].value)
		}
	}
	return value, value != ""
}

func (r *reading) authorization(wanted string) (value string, ok bool) {
	scheme, value, _ := strings.Cut(strings.TrimSpace(r.Header.Get("Authorization")), " ")
	value = strings.TrimSpace(value)
	if !strings.EqualFold(scheme, wanted) || value == "" {
		return "", false
	}
	if wanted == "basic" && !strings.Contains(decodedBasic(value), ":") {
		return "", false
	}
	return value, true
}

// decodedBasic is the user and password of Basic credentials, "" if they cannot be read.
func decodedBasic(value string) string {
	text, err := base64.StdEncoding.DecodeString(value)
	if err != nil {
		return ""
	}
	return string(text)
}

// basic tells whether the scheme is Basic.
func (n *neededScheme) basic() bool {
	return strings.EqualFold(n.scheme.text("type"), "basic") || strings.EqualFold(n.scheme.text("scheme"), "basic")
}

// challenge is the WWW-Authenticate of a scheme.
func (n *neededScheme) challenge() string {
	switch strings.ToLower(n.scheme.text("type")) {
	case "apikey":
		return `ApiKey name="` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(n.scheme.text("name")) + `", in="` + n.scheme.text("in") + `"`
	case "http":
		if name := n.scheme.text("scheme"); !n.basic() && name != "" {
			return strings.ToUpper(name[:1]) + strings.ToLower(name[1:])
		}
		return `Basic realm="mocks"`
	case "basic":
		return `Basic realm="mocks"`
	default:
		return "Bearer"
	}
}
