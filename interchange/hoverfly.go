package interchange

import (
	"path"
	"slices"
	"strings"

	"github.com/mockbase/mockbase"
)

// hoverfly translates simulations of the versions 3 to 5: pairs of a request and a response. The mock answers at its own
// address, as Hoverfly does as a web server, so that scheme and destination are left out.
func hoverfly(s *source, out *output) error {
	if len(s.docs) == 0 {
		return s.noDocument()
	}
	known := false
	for _, d := range s.docs {
		if !d.at("data", "pairs").is(mockbase.NodeList) && len(s.docs) > 1 {
			continue // a body that an answer sends
		}
		known = true
		if err := simulation(s, d, out); err != nil {
			return err
		}
	}
	if !known {
		return malformed("no file holds a Hoverfly simulation: looked for a list called data.pairs")
	}
	return nil
}

// simulation translates one document.
func simulation(s *source, d value, out *output) error {
	data := out.object(d.member("data"))
	pairs := data.get("pairs")
	if !pairs.is(mockbase.NodeList) {
		return malformed("the file holds no Hoverfly simulation: looked for a list called data.pairs, found " + foundIn(d))
	}
	hoverflyVersion(out, d.at("meta", "schemaVersion"))
	h := &hoverflyFile{out: out, initial: map[string]bool{}, file: func(name string) ([]byte, bool) {
		if text, ok := s.file(path.Join(path.Dir(d.file), name)); ok {
			return text, true
		}
		return s.file(name)
	}}
	h.delays = hoverflyDelays(out, data.objectOf("globalActions"))
	h.literals(data)
	h.hosts = severalHosts(pairs)
	data.done()
	for _, pair := range pairs.items() {
		out.found++
		if out.stopped() {
			return nil
		}
		h.pair(pair)
	}
	return nil
}

// hoverflyVersion tells of a version that is not known.
func hoverflyVersion(out *output, version value) {
	major, _, _ := strings.Cut(version.text(), ".")
	if version.ok() && !slices.Contains([]string{"v3", "v4", "v5"}, major) {
		out.lost(version, "simulations of the version %s are not known: it is read like one of v5", quoted(version.text()))
	}
}

// hoverflyFile translates one simulation.
type hoverflyFile struct {
	out    *output
	delays []hoverflyDelay
	// initial holds the scenarios whose first state was said.
	initial map[string]bool
	// texts are the literals that templates name, variables the calls that they name.
	texts     map[string]string
	variables map[string]value
	// file reads a file that came with the simulation.
	file func(name string) ([]byte, bool)
	// hosts tells that pairs which say a destination and nothing else say different ones: the destination then tells them apart.
	hosts bool
}

// literals keeps the texts that templates name, and the variables, which call functions.
func (h *hoverflyFile) literals(data *object) {
	h.texts, h.variables = map[string]string{}, map[string]value{}
	for _, item := range data.listOf("literals") {
		h.texts[item.member("name").text()] = item.member("value").text()
	}
	for _, item := range data.listOf("variables") {
		h.variables[item.member("name").text()] = item
	}
}

func (h *hoverflyFile) pair(v value) {
	o, ok := h.out.entry(v)
	if !ok {
		return
	}
	p := &hoverflyPair{file: h, out: h.out, mock: h.out.mock(v)}
	for _, label := range o.get("labels").items() {
		if slug := slugOr(label.text(), ""); slug != "" {
			p.mock.append("tags", textNode(slug))
		}
	}
	o.skip("labels")
	request := p.mock.judge(o, "request", hoverflyShape())
	p.request(request)
	p.response(o.objectOf("response"), request)
	o.done()
	h.out.add(p.mock)
}

// hoverflyPair translates one pair.
type hoverflyPair struct {
	file *hoverflyFile
	out  *output
	mock *mock
	// scenario is the key of the state that the mock depends on or changes.
	scenario string
	// host, path and method are the literal parts, by which delays of the simulation are chosen.
	host, path, method string
}
