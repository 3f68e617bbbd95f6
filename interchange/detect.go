package interchange

import (
	"slices"
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
	return "", unknownFormat("nothing in the file says which tool wrote it")
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

// sign is what only the documents of one format have.
type sign struct {
	format Format
	of     func(d value) bool
}

// signs are tried in order.
func signs() []sign {
	return []sign{
		{FormatOpenAPI, func(d value) bool { return d.has("openapi") || d.has("swagger") }},
		{FormatPostman, isPostman},
		{FormatHAR, func(d value) bool { return d.at("log", "entries").is(mockbase.NodeList) || d.at("log", "creator").ok() }},
		{FormatMockoon, isMockoon},
		{FormatHoverfly, func(d value) bool { return d.at("data", "pairs").ok() || d.at("meta", "hoverflyVersion").ok() }},
		{FormatMockServer, isExpectation},
		{FormatWireMock, isWireMock},
		{FormatSmocker, isSmockerFile},
		{FormatMockBase, isDefinition},
		{FormatJSONServer, isDatabase},
	}
}

func formatOfList(items []value) Format {
	for _, sign := range []sign{
		// What one entry says in the words of a tool counts for all of them: the others may be broken.
		{FormatMockServer, isExpectation},
		{FormatWireMock, hasWireMockWords},
		{FormatSmocker, hasSmockerWords},
		{FormatWireMock, isWireMockStub},
		{FormatSmocker, func(d value) bool {
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
