package template

import (
	"strconv"
	"strings"

	"github.com/mockbase/mockbase/engine/jsonvalue"
)

// values gives the values of a name among the texts of the request.
func (r *run) values(in place, name string) []string {
	q := r.scope.Request
	if q == nil {
		return nil
	}
	switch in {
	case inQuery:
		return q.Query(name)
	case inForm:
		return q.Form(name)
	case inCookie:
		return q.Cookie(name)
	case inHeader:
		return q.Header(name)
	case inTrailer:
		return q.Trailer(name)
	default:
		if text, ok := r.first(in, name); ok {
			return []string{text}
		}
		return nil
	}
}

// first gives the first of them (rule P11).
func (r *run) first(in place, name string) (string, bool) {
	q := r.scope.Request
	switch {
	case q == nil:
		return "", false
	case in == inPath:
		return q.PathParam(name)
	case in == inMatrix:
		return q.Matrix(name)
	}
	if values := r.values(in, name); len(values) > 0 {
		return values[0], true
	}
	return "", false
}

// named is the view on the texts of one place: path, query, form, cookie, request.trailers and matrix.
type named struct {
	r  *run
	in place
}

func (v named) member(name string) (any, bool) {
	text, ok := v.r.first(v.in, name)
	if !ok {
		return nil, false
	}
	return text, true
}

func (v named) names() []string {
	q := v.r.scope.Request
	if q == nil {
		return nil
	}
	switch v.in {
	case inPath:
		return q.PathParamNames()
	case inQuery:
		return q.QueryNames()
	case inForm:
		return q.FormNames()
	case inCookie:
		return q.CookieNames()
	case inTrailer:
		return q.TrailerNames()
	default:
		return nil
	}
}

// fields is a view whose members are found by a function.
type fields struct {
	order []string
	find  func(name string) any
}

func (v fields) names() []string { return v.order }

func (v fields) member(name string) (any, bool) {
	found := v.find(name)
	return found, found != nil
}

// requestView is "request". A request without a port has none.
func requestView(r *run) any {
	q := r.scope.Request
	if q == nil {
		return nil
	}
	return fields{
		order: []string{
			"method", "path", "rawPath", "rawQuery", "url", "host", "port", "scheme", "clientIp", "id", "trailers",
		},
		find: func(name string) any {
			switch name {
			case "trailers":
				return named{r: r, in: inTrailer}
			case "matrix":
				return named{r: r, in: inMatrix}
			case "rawPath":
				return q.RawPath()
			case "rawQuery":
				return q.RawQuery()
			case "port":
				return filled(q.Port())
			case "clientIp":
				return q.ClientIP()
			default:
				return requestText(q, name)
			}
		},
	}
}

func requestText(q Request, name string) any {
	switch name {
	case "method":
		return q.Method()
	case "path":
		return q.Path()
	case "url":
		return q.URL()
	case "host":
		return q.Host()
	case "scheme":
		return q.Scheme()
	case "id":
		return q.ID()
	default:
		return nil
	}
}

// filled is a text that counts as missing where it is empty.
func filled(text string) any {
	if text == "" {
		return nil
	}
	return text
}

func partView(p *Part) any {
	return fields{
		order: []string{"name", "filename", "contentType", "text", "size"},
		find: func(name string) any {
			switch name {
			case "name":
				return p.Name
			case "filename":
				return p.Filename
			case "contentType":
				return p.ContentType
			case "text":
				return p.Text
			case "size":
				return integer(p.Size)
			default:
				return nil
			}
		},
	}
}

func limitView(l *Limit) any {
	if l == nil {
		return nil
	}
	return fields{
		order: []string{"limit", "remaining", "reset", "retryAfter", "policy"},
		find: func(name string) any {
			switch name {
			case "limit":
				return integer(l.Limit)
			case "remaining":
				return integer(l.Remaining)
			case "reset":
				return integer(l.Reset)
			case "retryAfter":
				return integer(l.RetryAfter)
			case "policy":
				return l.Policy
			default:
				return nil
			}
		},
	}
}

func responseView(s *Scope) any {
	p := s.Response
	if p == nil {
		return nil
	}
	return fields{
		order: []string{"status", "headers", "body"},
		find: func(name string) any {
			switch name {
			case "status":
				return integer(int64(p.Status))
			case "headers":
				return headersView(p.Headers)
			case "body":
				return s.answer()
			default:
				return nil
			}
		},
	}
}

// answer is the body of the answer as JSON, else as text. It is parsed once.
func (s *Scope) answer() any {
	if s.parsed != s.Response {
		s.parsed, s.parsedBody = s.Response, parseLoosely(s.Response.Body)
	}
	return s.parsedBody
}

// headersView shows the first value of each header.
func headersView(headers map[string][]string) any {
	order := sortedKeys(headers)
	return fields{
		order: order,
		find: func(name string) any {
			for _, known := range order {
				if values := headers[known]; strings.EqualFold(known, name) && len(values) > 0 {
					return values[0]
				}
			}
			return nil
		},
	}
}

// variablesView is "var".
type variablesView struct{ scope *Scope }

func (v variablesView) member(name string) (any, bool) { return v.scope.variable(name) }
func (v variablesView) names() []string                { return sortedKeys(v.scope.Variables) }

// index looks a name or a position up, in a value of any kind (rule P5).
func index(v, at any) (any, bool) {
	if isList(v) {
		n, err := toInt(at)
		if err != nil {
			return nil, false
		}
		return itemOf(v, int(n))
	}
	if n, ok := at.(number); ok {
		at = string(n)
	}
	name, ok := at.(string)
	if !ok {
		return nil, false
	}
	return member(v, name)
}

// body is the request's body as a value.
func (r *run) body() (*jsonvalue.Value, bool) {
	if r.scope.Request == nil {
		return nil, false
	}
	return r.scope.Request.Body()
}

// describe writes a call as its author did, for notes.
func describe(function, argument string) string { return function + " " + strconv.Quote(argument) }
