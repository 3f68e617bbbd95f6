package interchange

import (
	"slices"
	"strconv"
	"strings"

	"github.com/mockbase/mockbase"
)

// detect finds out what the source is, by what only one tool writes.
func (s *source) detect() (Format, error) {
	if len(s.docs) == 0 {
		if len(s.files) == 1 && isCommand(s.files[0].Text) {
			return FormatCURL, nil
		}
		return "", s.noDocument()
	}
	if slices.ContainsFunc(s.files, func(f File) bool { return len(s.files) > 1 && strings.Contains("/"+f.Name, "/mappings/") }) {
		return FormatWireMock, nil
	}
	for _, d := range s.docs {
		if f := formatOf(d); f != "" {
			return f, nil
		}
	}
	return "", unknownFormat("nothing in the file says which tool wrote it, which is " + foundIn(s.docs[0]) + ": looked for " + lookedFor())
}

// noDocument says why several files are nothing that could be imported.
func (s *source) noDocument() error {
	if len(s.warnings) == 0 {
		return unknownFormat("there is no JSON or YAML document among the files")
	}
	first := s.warnings[0]
	return malformed("no file can be read; " + first.File + ": " + first.Detail)
}

// formatOf says which tool wrote a document, "" if none of those that are known.
func formatOf(d value) Format {
	if d.is(mockbase.NodeList) {
		return formatOfList(d.items())
	}
	if !d.is(mockbase.NodeObject) {
		return ""
	}
	for _, sign := range signs() {
		if sign.of(d) {
			return sign.format
		}
	}
	return ""
}

// sign is what only the documents of one format have, and its name for people.
type sign struct {
	format Format
	of     func(d value) bool
	what   string
}

// lookedFor lists the signs of all formats.
func lookedFor() string {
	var names []string
	for _, s := range signs() {
		names = append(names, s.what)
	}
	return strings.Join(names, ", ") + ", or a curl command"
}

// foundIn describes a document for people.
func foundIn(d value) string {
	const most = 8
	switch {
	case d.node == nil, !d.is(mockbase.NodeObject) && !d.is(mockbase.NodeList):
		return "neither an object nor a list"
	case d.is(mockbase.NodeList):
		return "a list of " + strconv.Itoa(len(d.node.Items)) + " without the words of a tool"
	case len(d.node.Members) == 0:
		return "an empty object"
	}
	var names []string
	for _, m := range d.node.Members[:min(len(d.node.Members), most)] {
		names = append(names, quoted(m.Key))
	}
	if len(d.node.Members) > most {
		names = append(names, "…")
	}
	return "an object with " + strings.Join(names, ", ")
}

// of returns the documents of a source that are of a format. One alone that is none is an error; among several it is a
// warning, unless it may belong to the others.
func (s *source) of(out *output, holds func(d value) bool, name, sign string) ([]value, error) {
	var docs []value
	for _, d := range s.docs {
		if holds(d) {
			docs = append(docs, d)
		}
	}
	switch {
	case len(s.docs) == 0:
		return nil, s.noDocument()
	case len(docs) == 0 && len(s.docs) == 1:
		return nil, malformed("the file holds no " + name + ": looked for " + sign + ", found " + foundIn(s.docs[0]))
	case len(docs) == 0:
		return nil, malformed("no file holds a " + name + ": looked for " + sign)
	}
	for _, d := range s.docs {
		if !holds(d) {
			out.warn(d, codeNotTranslated, "the file holds no %s, which has %s: it is left out", name, sign)
		}
	}
	return docs, nil
}

// signs are tried in order.
func signs() []sign {
	return []sign{
		{FormatOpenAPI, func(d value) bool { return d.has("openapi") || d.has("swagger") }, "openapi or swagger"},
		{FormatPostman, isPostman, "info with item (Postman)"},
		{FormatHAR, func(d value) bool { return d.at("log", "entries").is(mockbase.NodeList) || d.at("log", "creator").ok() }, "log.entries (HAR)"},
		{FormatMockoon, isMockoon, "routes (Mockoon)"},
		{FormatHoverfly, func(d value) bool { return d.at("data", "pairs").ok() || d.at("meta", "hoverflyVersion").ok() }, "data.pairs (Hoverfly)"},
		{FormatMockServer, isExpectation, "httpRequest (MockServer)"},
		{FormatWireMock, isWireMock, "mappings, or request with url or urlPath (WireMock)"},
		{FormatSmocker, isSmockerFile, "request with path (Smocker)"},
		{FormatMockBase, isDefinition, "mocks (MockBase)"},
		{FormatJSONServer, isDatabase, "lists alone (json-server)"},
	}
}

func formatOfList(items []value) Format {
	for _, sign := range []sign{
		// What one entry says in the words of a tool counts for all of them: the others may be broken.
		{format: FormatMockServer, of: isExpectation},
		{format: FormatWireMock, of: hasWireMockWords},
		{format: FormatSmocker, of: hasSmockerWords},
		{format: FormatWireMock, of: isWireMockStub},
		{format: FormatSmocker, of: func(d value) bool {
			return d.has("request") && (d.has("response") || d.has("dynamic_response") || d.has("proxy"))
		}},
	} {
		if slices.ContainsFunc(items, sign.of) {
			return sign.format
		}
	}
	return ""
}

func isPostman(d value) bool {
	if inner := d.member("collection"); inner.ok() {
		d = inner
	}
	schema := d.at("info", "schema").text()
	return strings.Contains(schema, "getpostman.com") || strings.Contains(schema, "postman.com") ||
		d.member("item").is(mockbase.NodeList) && d.has("info")
}

func isMockoon(d value) bool {
	return d.member("routes").is(mockbase.NodeList) && (d.has("lastMigration") || d.has("endpointPrefix") || d.has("uuid")) ||
		d.at("source").text() != "" && strings.HasPrefix(d.at("source").text(), "mockoon")
}

func isExpectation(d value) bool {
	return slices.ContainsFunc([]string{
		"httpRequest", "httpResponse", "httpForward", "httpError", "httpResponseTemplate", "httpOverrideForwardedRequest", "specUrlOrPayload",
	}, d.has)
}

func isWireMock(d value) bool {
	return d.member("mappings").is(mockbase.NodeList) || isWireMockStub(d)
}

// isWireMockStub tells whether an object is one stub: its request knows one of WireMock's own words, or its response does.
func isWireMockStub(d value) bool {
	return hasWireMockWords(d) || d.member("request").is(mockbase.NodeObject) && d.member("response").is(mockbase.NodeObject) && !d.at("request", "path").ok()
}

// hasWireMockWords tells whether the request of an object knows one of WireMock's own words.
func hasWireMockWords(d value) bool {
	words := []string{"url", "urlPath", "urlPattern", "urlPathPattern", "urlPathTemplate", "bodyPatterns", "customMatcher"}
	return slices.ContainsFunc(words, d.member("request").has)
}

// hasSmockerWords tells whether an object is a mock of Smocker by the words that only it has.
func hasSmockerWords(d value) bool {
	return d.at("request", "path").ok() || d.at("request", "query_params").ok() || d.has("dynamic_response")
}

// isSmockerFile tells a file of Smocker's acceptance tests or sessions, whose mocks stand inside.
func isSmockerFile(d value) bool {
	return d.member("testcases").is(mockbase.NodeList) ||
		d.member("request").is(mockbase.NodeObject) && (d.has("response") || d.has("dynamic_response") || d.has("proxy"))
}

func isDefinition(d value) bool {
	return d.member("mocks").is(mockbase.NodeList) || d.member("collections").is(mockbase.NodeObject) || d.has("version") && d.has("documents")
}

// isDatabase tells a json-server database: an object of lists and objects.
func isDatabase(d value) bool {
	entries := d.entries()
	return len(entries) > 0 && !slices.ContainsFunc(entries, func(e entry) bool {
		return !e.is(mockbase.NodeList) && !e.is(mockbase.NodeObject)
	}) && slices.ContainsFunc(entries, func(e entry) bool { return e.is(mockbase.NodeList) })
}
