package interchange

import (
	"cmp"
	"encoding/base64"
	"net/url"
	"slices"
	"strings"

	"github.com/mockbase/mockbase"
)

// har translates HTTP archives: one mock for each request, and a sequence of its answers in the order in which they came.
func har(s *source, out *output) error {
	docs, err := s.of(out, func(d value) bool { return d.at("log", "entries").is(mockbase.NodeList) }, "HTTP archive", "a list called log.entries")
	if err != nil {
		return err
	}
	for _, d := range docs {
		h := &harArchive{out: out, set: newSavedSet(out), ours: d.at("log", "creator", "name").text() == "MockBase"}
		if version := d.at("log", "version"); version.ok() && !slices.Contains([]string{"1.1", "1.2"}, version.text()) {
			out.lost(version, "archives of the version %s are not known: it is read like one of 1.2", quoted(version.text()))
		}
		for _, v := range d.at("log", "entries").items() {
			out.found++
			if out.stopped() {
				return nil
			}
			h.entry(v)
		}
		h.set.finish()
	}
	return nil
}

// harArchive translates one archive.
type harArchive struct {
	out  *output
	set  *savedSet
	host string
	// told is set once it was said that the archive has several hosts.
	told bool
	// ours tells that the archive was exported here; cut that it was said that paths are shortened.
	ours, cut bool
}

func (h *harArchive) entry(v value) {
	request, response := v.member("request"), v.member("response")
	if !request.is(mockbase.NodeObject) {
		h.out.lost(v, "the entry has no request: it is left out")
		return
	}
	x := &saved{from: v, method: strings.ToUpper(strings.TrimSpace(request.member("method").text())), literal: true}
	if x.method == "" {
		x.method = "GET"
	}
	if method := request.member("method"); method.ok() && !method.is(mockbase.NodeText) {
		h.out.lost(method, "the method must be a text: the entry is left out")
		return
	}
	u, err := url.Parse(strings.TrimSpace(request.member("url").text()))
	if err != nil || u.Host == "" {
		h.out.lost(request, "the address %s is no URL: the entry is left out", quoted(request.member("url").text()))
		return
	}
	if isPreflight(x.method, request) {
		h.out.lost(v, "the server answers questions about cross-origin requests by itself: the entry is left out")
		return
	}
	h.hostOf(request, u.Host)
	x.path = h.path(v, sentPath(strings.TrimSpace(request.member("url").text())))
	x.query = h.query(request, u.RawQuery)
	x.body = harBody(request.member("postData"))
	for _, name := range []string{"encoding", "_encoding"} {
		h.knownEncoding(request.at("postData", name))
	}
	if x.answer = h.answer(v, response); x.answer != nil {
		h.set.add(x)
	}
}

// path is the path of an address. Of a request to a project's mocks the project is left out: the next one has its own.
func (h *harArchive) path(entry value, text string) string {
	after, below := strings.CutPrefix(text, "/m/")
	slug, _, _ := strings.Cut(after, "/")
	if !below || !mockbase.IsMockBase("/m/"+slug) || !h.ours && !answeredHere(entry.member("response")) {
		return text
	}
	if !h.cut {
		h.cut = true
		h.out.lost(entry, "the requests went to mocks of the project %s: /m/%s is left out of their paths", quoted(slug), slug)
	}
	return cmp.Or(after[len(slug):], "/")
}

// answeredHere tells whether an answer came from mocks.
func answeredHere(response value) bool {
	return slices.ContainsFunc(harPairs(response.member("headers")), func(p pair) bool { return strings.EqualFold(p.name, "Mockbase-Mock") })
}

// query reads the query of the address, or the list beside it where the address has none.
func (h *harArchive) query(request value, raw string) []pair {
	listed := harPairs(request.member("queryString"))
	if raw == "" {
		return listed
	}
	stated := queryPairs(raw)
	if len(listed) > 0 && !samePairs(listed, stated) {
		h.out.lost(request.member("queryString"), "it says something else than the address: the query of the address counts")
	}
	return stated
}

// hostOf says once that mocks answer whatever the host is.
func (h *harArchive) hostOf(v value, host string) {
	switch {
	case h.host == "":
		h.host = host
	case h.host != host && !h.told:
		h.told = true
		h.out.lost(v, "the archive has requests to several hosts, such as %s and %s: the host is no condition", quoted(h.host), quoted(host))
	}
}

// isPreflight tells the question that a browser asks before a cross-origin request.
func isPreflight(method string, request value) bool {
	if method != "OPTIONS" {
		return false
	}
	for _, p := range harPairs(request.member("headers")) {
		if strings.EqualFold(p.name, "Access-Control-Request-Method") {
			return true
		}
	}
	return false
}

// harPairs reads a list of names and values.
func harPairs(v value) []pair {
	var pairs []pair
	for _, item := range v.items() {
		if name := item.member("name").text(); name != "" {
			pairs = append(pairs, pair{name, item.member("value").text()})
		}
	}
	return pairs
}

// harBody reads the body of a request, of which some tools keep the fields alone.
func harBody(v value) savedBody {
	b := savedBody{text: v.member("text").text(), kind: v.member("mimeType").text()}
	for _, name := range []string{"encoding", "_encoding"} {
		if v.member(name).text() != "base64" {
			continue
		}
		if raw, err := base64.StdEncoding.DecodeString(b.text); err == nil {
			b.text = string(raw)
			break
		}
	}
	if b.text != "" || !strings.HasPrefix(b.kind, "application/x-www-form-urlencoded") {
		return b
	}
	var parts []string
	for _, p := range harPairs(v.member("params")) {
		parts = append(parts, formEscape(p.name)+"="+formEscape(p.text))
	}
	b.text = strings.Join(parts, "&")
	return b
}

// knownEncoding warns of an encoding that is not undone.
func (h *harArchive) knownEncoding(v value) {
	if text := v.text(); v.ok() && text != "" && text != "base64" {
		h.out.lost(v, "the encoding %s is not known: the text is taken as it is", quoted(text))
	}
}

// samePairs tells whether two queries say the same, in whatever order. Some tools keep values encoded.
func samePairs(a, b []pair) bool {
	texts := func(list []pair) []string {
		var lines []string
		for _, p := range list {
			lines = append(lines, unescaped(p.name)+"="+unescaped(p.text))
		}
		slices.Sort(lines)
		return lines
	}
	return slices.Equal(texts(a), texts(b))
}

// answer translates an answer, nil when there was none.
func (h *harArchive) answer(entry, v value) *doc {
	const found, first, last, upgraded = 200, 200, 999, 101
	if !v.ok() {
		h.out.lost(entry, "no answer is saved: the mock answers 200 without a body")
		return with("status", numberNode(found))
	}
	status, ok := v.member("status").integer()
	if ok && status == upgraded {
		h.out.lost(v, "the connection became another one, such as a WebSocket, of which archives say no answer: the entry is left out")
		return nil
	}
	if !ok || status < first || status > last {
		h.out.lost(v, "no answer came, its status is %s: the entry is left out", quoted(v.member("status").text()))
		return nil
	}
	headers, typed := h.headers(v)
	body := h.content(v.member("content"))
	if kind := v.at("content", "mimeType").text(); !typed && len(body) > 0 && strings.Contains(kind, "/") && kind != "x-unknown" {
		headers = append(headers, pair{"Content-Type", kind})
	}
	if text := v.at("content", "text"); string(body) == text.text() { // it was no base64
		body = h.out.sentText(text, headers, text.text())
	}
	return savedAnswer(status, headers, body)
}

// headers reads the headers of an answer, and tells whether one of them is the type of the body.
func (h *harArchive) headers(v value) (headers []pair, typed bool) {
	for _, item := range v.member("headers").items() {
		p := pair{item.member("name").text(), item.member("value").text()}
		switch {
		case strings.EqualFold(p.name, "Set-Cookie"):
			h.out.lost(item, "the cookie belongs to one client: it is not set")
			continue
		case strings.EqualFold(p.name, "Content-Type"):
			typed = true
		}
		headers = append(headers, p)
	}
	return headers, typed
}

// content reads the body of an answer, and tells of one that the archive does not have, or not all of.
func (h *harArchive) content(v value) []byte {
	text := v.member("text")
	size, _ := v.member("size").integer()
	switch {
	case v.member("_truncated").isTrue():
		h.out.lost(v, "the body of the answer is cut: %s", v.member("comment").text())
	case !text.ok() && size > 0:
		h.out.lost(v, "the archive does not hold the body of the answer")
	}
	if v.member("encoding").text() != "base64" {
		h.knownEncoding(v.member("encoding"))
		return []byte(text.text())
	}
	raw, err := base64.StdEncoding.DecodeString(strings.TrimSpace(text.text()))
	if err != nil {
		h.out.warn(text, mockbase.FieldSyntax, "the body is not base64, as the archive says: it is taken as text")
		return []byte(text.text())
	}
	return raw
}
