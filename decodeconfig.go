package mockbase

import (
	"encoding/json"
	"math"
	"strings"
)

const (
	defaultState        = "Started"
	defaultMaxInstances = 10_000
	defaultPageSize     = 10
	defaultMaxPageSize  = 100
)

// sectionsBefore and sectionsAfter are the sections of a definition beside its mocks, in the order they are written.
func sectionsBefore() []string {
	return []string{"variables", "settings", "defaults", "rateLimits", "scenarios"}
}

func sectionsAfter() []string { return []string{"collections", "documents"} }

// decodeConfig reads the sections of a definition that are no mocks.
func decodeConfig(f *Fields, c *Config) {
	decodeVariables(f, c)
	if settings := f.Object("settings"); settings != nil {
		decodeSettings(settings, &c.Settings)
	}
	if defaults := f.Object("defaults"); defaults != nil {
		if on := defaults.template(); on != nil {
			c.Defaults.Template = *on
		}
		c.Defaults.Headers = decodeHeaders(defaults, "headers")
		c.Defaults.Delay = decodeMember(defaults, "delay", decodeDelay)
		c.Defaults.RateLimit = decodeMember(defaults, "rateLimit", decodeRateLimit)
		defaults.Done()
		c.Defaults.Template = c.Defaults.Template || defaults.broken
	}
	for _, e := range f.entries("rateLimits") {
		e.key.checkSlug(e.name)
		c.RateLimits = append(c.RateLimits, NamedLimit{e.name, decodeNamedPolicy(e.place)})
	}
	for _, e := range f.entries("scenarios") {
		e.key.checkSlug(e.name)
		c.Scenarios = append(c.Scenarios, decodeScenario(e))
	}
	for _, e := range f.entries("collections") {
		e.key.checkSlug(e.name)
		c.Collections = append(c.Collections, decodeCollection(e))
	}
	decodeDocuments(f, c)
	keepSource(f, c)
}

// keepSource keeps the text of each section.
func keepSource(f *Fields, c *Config) {
	for _, name := range append(sectionsBefore(), sectionsAfter()...) {
		n := f.node.Find(name)
		if n == nil {
			continue
		}
		if c.Source == nil {
			c.Source = map[string]json.RawMessage{}
		}
		c.Source[name] = n.JSON()
	}
}

func decodeVariables(f *Fields, c *Config) {
	for _, e := range f.entries("variables") {
		if !validIdentifier(e.name) {
			e.key.fault(FieldPattern, "%s is no variable name: use letters, digits and _, without a digit in front", quote(e.name))
		}
		if e.Kind == NodeNull || e.Kind == NodeList || e.Kind == NodeObject {
			e.fault(FieldType, "must be a text, a number or a boolean, found %s", e.describe())
		}
		c.Variables = append(c.Variables, Variable{e.name, e.JSON()})
	}
}

func validIdentifier(s string) bool {
	for i := range len(s) {
		letter := letterByte(s[i]) || s[i] == '_'
		if !letter && (i == 0 || !digitByte(s[i])) {
			return false
		}
	}
	return s != ""
}

func decodeSettings(f *Fields, s *Settings) {
	oneOf(f, "trailingSlash", &s.TrailingSlash, TrailingSlashStrict, TrailingSlashIgnore)
	var word string
	s.IgnorePathCase = oneOf(f, "pathCase", &word, "exact", "ignore") && word == "ignore"
	s.MergeEmptySegments = oneOf(f, "emptySegments", &word, "keep", "merge") && word == "merge"
	f.Bool("strictMethods", &s.StrictMethods)
	if cors, ok := f.at("cors"); ok {
		decodeCORS(cors, &s.CORS)
	}
	s.NoMatch = decodeMember(f, "noMatch", decodePlain)
	if fallback := f.Object("fallback"); fallback != nil {
		s.Fallback = decodeMember(fallback, "proxy", decodeProxy)
		fallback.Required("proxy")
		fallback.Done()
	}
	f.negated("decisionHeader", &s.HideDecision)
	f.negated("controlHeaders", &s.IgnoreControlHeaders)
	f.Bool("compress", &s.Compress)
	decodeSeed(f, s)
	s.MaxBody = f.optionalInt64("maxBody", 0, math.MaxInt64)
	f.negated("browserSandbox", &s.NoBrowserSandbox)
	f.Done()
}

// decodeSeed reads a whole number or a text.
func decodeSeed(f *Fields, s *Settings) {
	n := f.node.Find("seed")
	switch {
	case n != nil && n.Kind == NodeText:
		var text string
		f.filled("seed", &text)
	case n != nil && n.Kind == NodeNumber:
		f.Node("seed")
		if _, isWhole, _ := wholeNumber(n.Text); !isWhole {
			f.Fault("seed", FieldType, "must be a whole number or a text, found %s", n.Text)
		}
	case f.Node("seed") != nil:
		f.Fault("seed", FieldType, "must be a whole number or a text, found %s", n.describe())
	}
	if n != nil {
		s.Seed = n.JSON()
	}
}

// decodeCORS reads true, false or an object.
func decodeCORS(at place, c *CORS) {
	switch at.Kind {
	case NodeBool:
		c.Disabled = at.Text == "false"
		return
	case NodeObject:
	default:
		at.fault(FieldType, "must be true, false or an object, found %s", at.describe())
		return
	}
	f := at.fields()
	if f.Texts("origins", &c.Origins) && len(c.Origins) == 0 {
		f.Fault("origins", FieldRange, "must have at least 1 entry")
	}
	f.Bool("credentials", &c.Credentials)
	f.Texts("exposeHeaders", &c.ExposeHeaders)
	c.MaxAge = optional(f, (*Fields).Duration, "maxAge")
	f.Bool("privateNetwork", &c.PrivateNetwork)
	f.Done()
}

// decodeNamedPolicy reads a policy of the project, which cannot refer to another.
func decodeNamedPolicy(at place) LimitPolicy {
	f := at.fields()
	if f.Has("use") {
		f.Node("use")
		f.Fault("use", FieldConflict, "a named policy cannot use another: state its numbers")
	}
	return decodePolicy(f)
}

func decodeScenario(e entry) Scenario {
	f := e.fields()
	s := Scenario{Name: e.name, Initial: defaultState, MaxInstances: defaultMaxInstances}
	f.filled("initial", &s.Initial)
	if key, ok := f.at("key"); ok {
		s.Keys = decodeLimitKeys(key)
	}
	f.Int("maxInstances", &s.MaxInstances, 1, math.MaxInt)
	f.Done()
	return s
}

// decodeCollection reads working create, read, update and delete over sample data.
func decodeCollection(e entry) Collection {
	f := e.fields()
	c := Collection{
		Name: e.name, Path: "/" + e.name, IDMember: "id", Seed: json.RawMessage("[]"),
		PageSize: defaultPageSize, MaxPageSize: defaultMaxPageSize,
	}
	if f.Text("path", &c.Path) && (!strings.HasPrefix(c.Path, "/") || strings.ContainsAny(c.Path, "?#{}*")) {
		f.Fault("path", FieldPattern, "must start with a slash and hold no ?, #, *, { or }, found %s", quote(c.Path))
	}
	f.filled("id", &c.IDMember)
	f.Bool("singular", &c.Singular)
	decodeSeedData(f, &c)
	f.filled("seedFile", &c.SeedFile)
	f.atMostOne("seed", "seedFile")
	if schema, ok := f.at("schema"); ok {
		checkSchema(schema)
		c.Schema = schema.JSON()
	}
	for _, e := range f.entries("relations") {
		c.Relations = append(c.Relations, decodeRelation(e))
	}
	f.Int("pageSize", &c.PageSize, 1, math.MaxInt)
	f.Int("maxPageSize", &c.MaxPageSize, 1, math.MaxInt)
	f.Bool("envelope", &c.Envelope)
	f.Bool("upsert", &c.Upsert)
	f.Bool("bulk", &c.Bulk)
	f.Bool("persist", &c.Persist)
	f.Int("priority", &c.Priority, -maxPriority, maxPriority)
	c.RateLimit = decodeMember(f, "rateLimit", decodeRateLimit)
	c.Delay = decodeMember(f, "delay", decodeDelay)
	f.Done()
	if c.PageSize > c.MaxPageSize && f.Has("pageSize") {
		f.Fault("pageSize", FieldRange, "must be at most the maxPageSize of %d, found %d", c.MaxPageSize, c.PageSize)
	}
	return c
}

// decodeSeedData reads the sample data: a list of objects, or one object of a singular collection.
func decodeSeedData(f *Fields, c *Collection) {
	if c.Singular {
		c.Seed = json.RawMessage("{}")
	}
	at, ok := f.at("seed")
	switch {
	case !ok:
		return
	case c.Singular && at.Kind != NodeObject:
		at.fault(FieldType, "must be an object, as the collection is singular, found %s", at.describe())
	case !c.Singular && at.Kind != NodeList:
		at.fault(FieldType, "must be a list of objects, found %s", at.describe())
	case !c.Singular:
		checkSeedItems(at, c.IDMember)
	}
	c.Seed = at.JSON()
}

// checkSeedItems notes items that are no objects, and ids that come twice as text (rule V2) or that
// no address reaches (rule B8).
func checkSeedItems(at place, idMember string) {
	taken := make(map[string]bool, len(at.Items))
	for i := range at.Items {
		item := at.item(i)
		if item.Kind != NodeObject {
			item.fault(FieldType, "must be an object, found %s", item.describe())
			continue
		}
		id := item.Find(idMember)
		if id == nil || id.Kind != NodeText && id.Kind != NodeNumber {
			continue
		}
		if taken[id.Text] {
			at.faults.Add(id, childPointer(item.pointer, idMember), FieldUnique, "another item has the id %s", quote(id.Text))
		}
		if id.Text == "." || id.Text == ".." {
			at.faults.Add(id, childPointer(item.pointer, idMember), FieldPattern, "the id %s cannot be reached: addresses leave out such segments", quote(id.Text))
		}
		taken[id.Text] = true
	}
}

func decodeRelation(e entry) Relation {
	f := e.fields()
	r := Relation{Member: e.name, OnDelete: "keep"}
	f.slug("to", &r.To)
	oneOf(f, "onDelete", &r.OnDelete, "keep", "cascade", "setNull", "restrict")
	f.Required("to")
	f.Done()
	return r
}

// decodeDocuments reads the OpenAPI descriptions.
func decodeDocuments(f *Fields, c *Config) {
	taken := map[string]bool{}
	for _, at := range f.list("documents", 0, math.MaxInt) {
		d := decodeDocument(at.fields())
		if d.Name != "" && taken[d.Name] {
			at.faults.Add(at.Find("name"), childPointer(at.pointer, "name"), FieldUnique, "another document is called %s", quote(d.Name))
		}
		taken[d.Name] = true
		c.Documents = append(c.Documents, d)
	}
}

func decodeDocument(f *Fields) Document {
	d := Document{BasePath: "accept", Requests: "enforce", Responses: "warn"}
	f.slug("name", &d.Name)
	f.filled("file", &d.File)
	if f.Text("url", &d.URL) && !strings.HasPrefix(d.URL, "http://") && !strings.HasPrefix(d.URL, "https://") {
		f.Fault("url", FieldPattern, "must begin with http:// or https://, found %s", quote(d.URL))
	}
	if at, ok := f.at("inline"); ok {
		if at.Kind != NodeObject {
			at.fault(FieldType, "must be an object, found %s", at.describe())
		}
		d.Inline = at.JSON()
	}
	f.exactlyOne("file", "url", "inline")
	f.negated("serve", &d.ValidateOnly)
	oneOf(f, "basePath", &d.BasePath, "accept", "strict", "ignore")
	d.Requests, d.Responses = validation(f, "requests", d.Requests), validation(f, "responses", d.Responses)
	f.Bool("strict", &d.Strict)
	f.Bool("dynamic", &d.Dynamic)
	for _, credential := range f.Objects("credentials") {
		d.Credentials = append(d.Credentials, decodeCredential(credential))
	}
	f.Bool("callbacks", &d.Callbacks)
	d.RateLimit = decodeMember(f, "rateLimit", decodeRateLimit)
	d.Delay = decodeMember(f, "delay", decodeDelay)
	for _, e := range f.entries("operations") {
		own := e.fields()
		d.Operations = append(d.Operations, DocumentOperation{Name: e.name, RateLimit: decodeMember(own, "rateLimit", decodeRateLimit)})
		own.Done()
	}
	f.Required("name")
	f.Done()
	return d
}

// validation reads what becomes of what does not fit a document. The word report is another one for warn.
func validation(f *Fields, name, otherwise string) string {
	oneOf(f, name, &otherwise, "enforce", "warn", "report", "disabled")
	if otherwise == "report" {
		return "warn"
	}
	return otherwise
}

func decodeCredential(f *Fields) Credential {
	var c Credential
	f.Text("scheme", &c.Scheme)
	f.Text("value", &c.Value)
	f.Texts("scopes", &c.Scopes)
	f.Required("scheme", "value")
	f.Done()
	return c
}
