package interchange

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/mockbase/mockbase"
)

// maxFolders is how deep folders may lie in one another, in the source and in a mock (mock format, section 6).
const (
	maxFolders     = 6
	maxItemDepth   = 50
	longestFolder  = 200
	longestSummary = 4000
)

// postman translates collections of Postman, versions 2.0 and 2.1: one mock for each request, and a sequence of its saved
// answers in their order.
func postman(s *source, out *output) error {
	docs, err := s.of(out, func(d value) bool { return collectionOf(d).member("item").is(mockbase.NodeList) || isEnvironment(d) },
		"Postman collection", "a list called item, as exports of the versions 2.0 and 2.1 have it")
	if err != nil {
		return err
	}
	around := out.environments(docs)
	for _, d := range docs {
		if isEnvironment(d) {
			continue
		}
		o := out.object(collectionOf(d))
		p := &postmanFile{out: out, set: newSavedSet(out), around: around}
		p.about(o)
		p.items(o.listOf("item"), nil)
		p.set.finish()
		o.done()
	}
	return nil
}

// postmanFile translates one collection.
type postmanFile struct {
	out       *output
	set       *savedSet
	variables map[string]string
	// around are the variables of environments that came with the collection, which count before its own.
	around map[string]string
}

// about reads what stands around the requests.
func (p *postmanFile) about(o *object) {
	info := o.objectOf("info")
	p.out.title = info.textOf("name")
	info.skip("_postman_id", "schema", "version", "description", "_exporter_id", "_collection_link", "updatedAt", "createdAt", "lastUpdatedBy", "uid", "fork")
	info.done()
	p.variables = p.around
	p.variables = p.within(o)
	p.beside(o)
	o.skip("protocolProfileBehavior")
}

// within returns the variables that count inside of a collection, a folder or a request: its own and those around it.
func (p *postmanFile) within(o *object) map[string]string {
	list := o.listOf("variable")
	if len(list) == 0 {
		return p.variables
	}
	known := map[string]string{}
	maps.Copy(known, p.variables)
	for _, v := range list {
		d, ok := p.out.entry(v)
		if !ok {
			continue
		}
		name := cmp.Or(d.textOf("key"), d.textOf("id"), d.textOf("name"))
		d.skip("key", "id", "name", "type", "system", "description", "disabled")
		text := p.base(d, name)
		if _, stated := p.around[name]; !stated && !v.member("disabled").isTrue() {
			known[name] = text
		}
		d.done()
	}
	return known
}

// base is the value of a variable. That of the base address names no path if it is that of a project's mocks.
func (p *postmanFile) base(variable *object, name string) string {
	const scheme = "://"
	text, v := variable.textOf("value"), variable.get("value")
	base := pathOf(text)
	if name != "baseUrl" || !strings.Contains(text, scheme) || !mockbase.IsMockBase(base) {
		return text
	}
	p.out.lost(v, "the base address is that of a project's mocks: %s is left out of the paths", base)
	return strings.TrimSuffix(text, base)
}

// beside warns of what a collection, a folder and a request have that does nothing in a mock.
func (p *postmanFile) beside(o *object) {
	if auth := o.get("auth"); auth.is(mockbase.NodeObject) && auth.member("type").text() != "noauth" {
		p.out.lost(auth, "the credentials are no condition: the mock answers with and without them")
	}
	for _, event := range o.listOf("event") {
		lines := event.at("script", "exec")
		written := strings.TrimSpace(lines.text()) != "" ||
			slices.ContainsFunc(lines.items(), func(line value) bool { return strings.TrimSpace(line.text()) != "" })
		if written {
			p.out.lost(event, "scripts are not run")
		}
	}
}

// items walks through requests and folders.
func (p *postmanFile) items(list []value, folders []string) {
	for _, v := range list {
		if p.out.stopped() {
			return
		}
		o, ok := p.out.entry(v)
		if !ok {
			continue
		}
		o.skip("id", "_postman_id", "uid", "protocolProfileBehavior", "_postman_isSubFolder")
		p.beside(o)
		outer := p.variables
		p.variables = p.within(o)
		p.item(o, folders)
		p.variables = outer
		o.done()
	}
}

// item translates a request, or the folder that holds some.
func (p *postmanFile) item(o *object, folders []string) {
	name := o.textOf("name")
	switch {
	case !o.has("item"):
		p.out.found++
		p.request(o, name, folders)
	case len(folders) >= maxItemDepth:
		o.skip("item", "description")
		p.out.lost(o.value, "folders lie deeper in one another than %d: this one is left out", maxItemDepth)
	default:
		o.skip("description")
		p.items(o.listOf("item"), append(slices.Clip(folders), name))
	}
}

// request translates one request with its saved answers.
func (p *postmanFile) request(o *object, name string, folders []string) {
	v := o.get("request")
	base := savedRequest{saved: saved{from: o.value, name: name, folder: folderName(folders), description: summary(textOrContent(o.get("description")))}}
	if base.description == "" {
		base.description = summary(textOrContent(v.member("description")))
	}
	if !p.target(v, &base) {
		o.skip("response")
		return
	}
	answers := o.listOf("response")
	list := p.answers(&base, answers)
	if len(list) == 0 {
		why := "no saved answer can be given"
		if len(answers) == 0 {
			why = "no answer is saved"
		}
		p.out.lost(o.value, "%s: the mock answers 200 without a body", why)
		const found = 200
		base.answer = with("status", numberNode(found))
		list = append(list, &base)
	}
	p.tellApart(list)
	for _, one := range list {
		p.set.add(&one.saved)
	}
}

// answers translates saved answers, each with the request that it was saved for.
func (p *postmanFile) answers(base *savedRequest, answers []value) []*savedRequest {
	var list []*savedRequest
	for _, answer := range answers {
		a, ok := p.out.entry(answer)
		if !ok {
			continue
		}
		one := *base
		if original := a.get("originalRequest"); original.ok() {
			other := *base
			other.from = original
			if p.target(original, &other) {
				one, one.from = other, base.from
			}
		}
		one.step = a.textOf("name")
		one.answer = p.answer(a)
		a.done()
		if one.answer != nil {
			list = append(list, &one)
		}
	}
	return list
}

// folderName writes folders as the format has them.
func folderName(folders []string) string {
	names := make([]string, 0, maxFolders)
	for _, name := range folders[:min(len(folders), maxFolders)] {
		if name = strings.TrimSpace(strings.ReplaceAll(name, "/", "-")); name != "" {
			names = append(names, name)
		}
	}
	return shortened(strings.Join(names, "/"), longestFolder)
}

func summary(text string) string { return shortened(text, longestSummary) }

func shortened(text string, longest int) string {
	if r := []rune(text); len(r) > longest {
		return strings.Trim(string(r[:longest]), "/")
	}
	return text
}

// textOrContent is a text, or the content of an object that has one.
func textOrContent(v value) string {
	if v.is(mockbase.NodeObject) {
		return v.member("content").text()
	}
	return v.text()
}
