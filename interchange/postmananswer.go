package interchange

import (
	"slices"
	"strings"
)

// answer translates a saved answer, nil where its status is none.
func (p *postmanFile) answer(a *object) *doc {
	const found, first, last = 200, 100, 999
	status, ok := a.integerOf("code")
	if !ok {
		status = found
	}
	if status < first || status > last {
		p.out.lost(a.get("code"), "%d is no status: the saved answer is left out", status)
	}
	if cookies := a.get("cookie"); !cookies.silent() {
		p.out.lost(cookies, "the cookies belong to one client: they are not set")
	}
	a.skip("id", "_postman_id", "uid", "status", "responseTime", "timings", "responseSize", "_postman_previewtype", "type")
	language := a.textOf("_postman_previewlanguage")
	t := &postmanTemplate{file: p}
	headers := t.headers(a.get("header"))
	body := t.text(a.get("body"), a.textOf("body"))
	if body != "" && !slices.ContainsFunc(headers, func(h pair) bool { return strings.EqualFold(h.name, "Content-Type") }) {
		if kind := previewType(language); kind != "" {
			headers = append(headers, pair{"Content-Type", kind})
		}
	}
	if status < first || status > last {
		return nil
	}
	d := savedAnswer(status, headers, p.out.sentText(a.get("body"), headers, body))
	if t.dynamic {
		d.set("template", trueNode())
	}
	return d
}

// previewType is the media type of a language in which Postman shows a body.
func previewType(language string) string {
	switch strings.ToLower(language) {
	case "json":
		return "application/json"
	case "xml":
		return "application/xml"
	case "html":
		return "text/html; charset=utf-8"
	}
	return ""
}
