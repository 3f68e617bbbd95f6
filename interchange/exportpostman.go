package interchange

import (
	"cmp"
	"encoding/base64"
	"slices"
	"strconv"
	"strings"

	"github.com/mockbase/mockbase"
)

// postmanWriter writes a project as a collection of Postman: a request for each mock, its answers as saved examples.
type postmanWriter struct {
	*exporter

	root *postmanFolder
}

// postmanFolder is a folder with its requests and the folders in it.
type postmanFolder struct {
	name    string
	folders []*postmanFolder
	items   []*mockbase.Node
}

// postman writes the project as a collection of the version 2.1.
func (e *exporter) postman() (*mockbase.Node, error) {
	w := &postmanWriter{exporter: e, root: &postmanFolder{}}
	for _, m := range e.mocks {
		if err := e.stopped(); err != nil {
			return nil, err
		}
		x, err := e.mock(m)
		if err != nil {
			return nil, err
		}
		if x == nil {
			continue
		}
		x.doc.skip("description", "folder", "tags", "priority", "onEnd", "draw", "headCounts", "readBody", "expect")
		x.slashLoss()
		w.mock(x)
		w.unsaid(x)
		x.done()
	}
	for i, d := range e.config.Documents {
		e.lostSection("documents/"+strconv.Itoa(i), "the operations of the document %s are no requests: import the document itself", quoted(d.Name))
	}
	for _, c := range e.config.Collections {
		e.lostSection("collections/"+c.Name, "the collection is left out: it is no mock with a saved answer")
	}
	if e.options.Mock == "" && e.options.Tag == "" {
		e.settings("strictMethods", "cors", "decisionHeader", "controlHeaders", "compress", "maxBody")
	}
	info := with("name", textNode(cmp.Or(e.project.Name, e.project.Slug, "MockBase")))
	info.text("description", e.project.Description)
	info.set("schema", textNode("https://schema.getpostman.com/json/collection/v2.1.0/collection.json"))
	root := with("info", info.node())
	root.set("item", listNode(w.root.nodes()...))
	base := with("key", textNode("baseUrl"))
	base.set("value", textNode(cmp.Or(e.options.BaseURL, "http://localhost:8080")))
	root.set("variable", listNode(base.node()))
	return root.node(), nil
}

// nodes are the folders and requests of a folder.
func (f *postmanFolder) nodes() []*mockbase.Node {
	var list []*mockbase.Node
	for _, inner := range f.folders {
		d := with("name", textNode(inner.name))
		d.set("item", listNode(inner.nodes()...))
		list = append(list, d.node())
	}
	return append(list, f.items...)
}

// in finds a folder, or makes it.
func (f *postmanFolder) in(path string) *postmanFolder {
	for name := range strings.SplitSeq(path, "/") {
		if name == "" {
			continue
		}
		i := slices.IndexFunc(f.folders, func(inner *postmanFolder) bool { return inner.name == name })
		if i < 0 {
			f.folders = append(f.folders, &postmanFolder{name: name})
			i = len(f.folders) - 1
		}
		f = f.folders[i]
	}
	return f
}

// mock writes one request with its answers.
func (w *postmanWriter) mock(x *exportedMock) {
	if x.Request.PathMatches != "" {
		if _, ok := sampleOfExpression(x.Request.PathMatches); !ok {
			w.lost(x.request.get("pathMatches"), "no path is known that the expression takes: the mock is left out")
			return
		}
	}
	w.pathLosses(x)
	item := with("name", textNode(x.Name))
	item.text("description", x.Description)
	var answers []*mockbase.Node
	for _, method := range x.methods() {
		if method == mockbase.MethodAny {
			method = "GET"
			w.lost(x.doc.get("request"), "a request has one method: GET stands for every one")
		}
		for _, r := range x.responses {
			request := w.request(x, r, method)
			if item.get("request") == nil {
				item.set("request", request)
			}
			if answer := w.answer(r, request); answer != nil {
				answers = append(answers, answer)
			}
		}
	}
	item.set("response", listNode(answers...))
	folder := w.root.in(x.Folder)
	folder.items = append(folder.items, item.node())
}

// pathLosses tells of paths that stand for more than a request can hold.
func (w *postmanWriter) pathLosses(x *exportedMock) {
	if v := x.request.get("pathMatches"); v.ok() {
		w.lost(v, "a request has one path: it is an example of what the expression takes")
	}
	at := x.doc.get("request")
	for _, s := range x.pattern.Segments {
		switch s.Kind {
		case mockbase.SegmentMixed:
			w.lost(at, "a variable is a whole segment of the path: the segment with several parts is an example")
		case mockbase.SegmentRest:
			w.lost(at, "a variable is one segment of the path, and the mock takes any number of them")
		case mockbase.SegmentAny:
			w.lost(at, "any segment is written as an example")
		case mockbase.SegmentLiteral, mockbase.SegmentConstrained, mockbase.SegmentParameter:
		}
	}
}

// unsaid tells of what decides whether and how a mock answers, and is no part of a request.
func (w *postmanWriter) unsaid(x *exportedMock) {
	tell := func(o *object, name, why string) {
		if v := o.get(name); v.ok() && !v.silent() {
			w.lost(v, "%s", why)
		}
	}
	const states = "a collection knows no states: the request is the same in each"
	tell(x.doc, "scenario", states)
	tell(x.doc, "state", states)
	tell(x.doc, "times", "how often the mock answers cannot be said: it answers without end")
	tell(x.request, "host", "requests go to baseUrl: the host is no condition")
	tell(x.request, "strictQuery", "a query that may hold nothing else cannot be said")
	x.doc.skip("select")
	if x.Select == mockbase.SelectWeighted {
		tell(x.doc, "select", "a choice by weight cannot be said: the answers are saved in their order")
	}
	for _, r := range x.responses {
		r.doc.skip("weight")
		tell(r.doc, "setState", states)
		tell(r.doc, "times", "how often the answer comes cannot be said: it is saved once")
	}
}

// answer writes a saved answer; nil for one that is none.
func (w *postmanWriter) answer(r *exportedResponse, request *mockbase.Node) *mockbase.Node {
	r.doc.skip("when")
	if r.WebSocket != nil || r.Proxy != nil || r.Fault != nil && r.Body.Kind == mockbase.BodyNone {
		return nil // what there is instead has been asked for by nobody, and is told of
	}
	d := with("name", textNode(r.title()))
	d.set("originalRequest", request)
	code := r.status()
	d.set("status", textNode(statusText(code)))
	d.set("code", numberNode(int64(code)))
	var headers []*mockbase.Node
	for _, h := range r.headers() {
		for _, v := range h.Values {
			headers = append(headers, keyValue(h.Name, v))
		}
	}
	d.set("header", listNode(headers...))
	body, language := w.body(r)
	d.set("_postman_previewlanguage", textNode(language))
	d.set("cookie", listNode())
	d.set("body", textNode(body))
	if r.dynamic() {
		w.lost(r.doc.value, "the body is a template: it is saved as it is written")
	}
	return d.node()
}

func (w *postmanWriter) body(r *exportedResponse) (text, language string) {
	if r.SSE != nil {
		w.lost(r.doc.get("sse"), "a stream of events is saved as one text")
		return eventsText(r.SSE), "text"
	}
	n := r.bodyNode()
	switch {
	case n == nil:
		return "", "text"
	case r.textual():
		return string(r.Body.Bytes), "text"
	case r.Body.Kind == mockbase.BodyJSON:
		return string(n.JSON()), "json"
	case r.Body.Kind == mockbase.BodyBase64:
		w.lost(r.doc.get("base64"), "a saved answer is a text: the bytes are saved as base64")
		return base64.StdEncoding.EncodeToString(r.Body.Bytes), "text"
	}
	return n.Text, "text"
}
