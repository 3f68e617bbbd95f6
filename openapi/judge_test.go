package openapi_test

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/mockbase/mockbase/openapi"
)

// judge reads a document by itself: as one JSON Schema resource, and with kin-openapi where that can read it.
type judge struct {
	root     map[string]any
	version  int
	compiler *jsonschema.Compiler
	compiled map[string]*jsonschema.Schema
	// peer is nil where kin-openapi does not read the document.
	peer *openapi3.T
	// media is the key of the type that is judged.
	media   string
	excused int
}

// located is an object with its pointer.
type located struct {
	at    string
	value map[string]any
}

const judgeResource = "mem:///document.json"

func newJudge(t *testing.T, text []byte) *judge {
	t.Helper()
	parsed, err := openapi.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	root, err := jsonschema.UnmarshalJSON(strings.NewReader(string(parsed.JSON())))
	if err != nil {
		t.Fatal(err)
	}
	j := &judge{compiled: map[string]*jsonschema.Schema{}, version: 30}
	j.root, _ = root.(map[string]any)
	switch version, _ := j.root["openapi"].(string); {
	case version == "":
		j.version = 20
	case !strings.HasPrefix(version, "3.0"):
		j.version = 31
	}
	if j.version == 30 {
		loader := openapi3.NewLoader()
		if peer, err := loader.LoadFromData(parsed.JSON()); err == nil {
			j.peer = peer
		}
	}
	j.modernise(j.root, "")
	j.compiler = jsonschema.NewCompiler()
	j.compiler.DefaultDraft(jsonschema.Draft2020)
	j.compiler.AssertFormat()
	j.compiler.UseRegexpEngine(func(pattern string) (jsonschema.Regexp, error) {
		if re, err := regexp.Compile(pattern); err == nil {
			return re, nil
		}
		return regexp.MustCompile(""), nil
	})
	judgeFormats(j.compiler)
	if err := j.compiler.AddResource(judgeResource, root); err != nil {
		t.Fatal(err)
	}
	return j
}

// judgeFormats adds the formats of OpenAPI.
func judgeFormats(c *jsonschema.Compiler) {
	for name, bits := range map[string]int{"int32": 31, "int64": 63} {
		c.RegisterFormat(&jsonschema.Format{Name: name, Validate: func(v any) error {
			n, ok := v.(json.Number)
			if !ok {
				return nil
			}
			r, ok := new(big.Rat).SetString(n.String())
			if !ok || !r.IsInt() || r.Num().BitLen() > bits {
				return errors.New("it does not fit")
			}
			return nil
		}})
	}
	c.RegisterFormat(&jsonschema.Format{Name: "byte", Validate: func(v any) error {
		if s, ok := v.(string); ok {
			_, err := base64.StdEncoding.DecodeString(s)
			return err
		}
		return nil
	}})
}

// modernise writes the schemas of 2.0 and 3.0 as JSON Schema, for answers.
func (j *judge) modernise(value any, key string) {
	switch v := value.(type) {
	case []any:
		for _, item := range v {
			j.modernise(item, "")
		}
	case map[string]any:
		if key == "properties" || key == "patternProperties" || key == "schemas" || key == "definitions" {
			for _, name := range sortedKeys(v) {
				j.modernise(v[name], "")
			}
			return
		}
		j.modern(v)
		for _, name := range sortedKeys(v) {
			switch name {
			case "example", "examples", "default", "enum", "const", "x-examples":
				if key != "responses" {
					continue
				}
			}
			j.modernise(v[name], name)
		}
	}
}

func (j *judge) modern(v map[string]any) {
	if _, ok := v["$ref"].(string); ok && j.resolve("", v) == nil && !isAnchor(v["$ref"]) {
		delete(v, "$ref") // A reference that leads nowhere says nothing.
	}
	if ref, ok := v["$ref"].(string); ok && j.version < 31 {
		clear(v)
		v["$ref"] = ref
		return
	}
	j.hide(v)
	if j.version == 31 && v["nullable"] == nil {
		return
	}
	for _, own := range []string{"Minimum", "Maximum"} {
		flag, bound := "exclusive"+own, strings.ToLower(own)
		if set, ok := v[flag].(bool); ok {
			delete(v, flag)
			if set && v[bound] != nil {
				v[flag] = v[bound]
				delete(v, bound)
			}
		}
	}
	if v["nullable"] == true || v["x-nullable"] == true {
		switch kind := v["type"].(type) {
		case string:
			v["type"] = []any{kind, "null"}
		case []any:
			v["type"] = append(slices.Clone(kind), "null")
		case nil:
			branches := maps.Clone(v)
			clear(v)
			delete(branches, "nullable")
			v["anyOf"] = []any{branches, map[string]any{"type": "null"}}
		}
	}
	if v["type"] == "file" {
		delete(v, "type")
	}
	if _, ok := v["required"].(bool); ok {
		delete(v, "required")
	}
}

func isAnchor(ref any) bool {
	text, _ := ref.(string)
	return strings.HasPrefix(text, "#") && !strings.HasPrefix(text, "#/") || text == "#"
}

// hide takes properties that are written only out of answers, wherever schemas that hold together declare and require them.
func (j *judge) hide(v map[string]any) {
	hidden := map[string]bool{}
	j.written(v, hidden, 0)
	j.allow(v, hidden)
	properties, _ := v["properties"].(map[string]any)
	for _, name := range sortedKeys(properties) {
		if j.follow(properties[name])["writeOnly"] == true {
			properties[name] = false
		}
	}
}

// written collects the properties that are written only.
func (j *judge) written(value any, to map[string]bool, depth int) {
	v := j.follow(value)
	properties, _ := v["properties"].(map[string]any)
	for name, own := range properties {
		to[name] = to[name] || own == false || j.follow(own)["writeOnly"] == true
	}
	list, _ := v["allOf"].([]any)
	for _, item := range list {
		if depth < 5 {
			j.written(item, to, depth+1)
		}
	}
}

// allow takes names out of what is required.
func (j *judge) allow(v map[string]any, names map[string]bool) {
	if list, ok := v["required"].([]any); ok {
		v["required"] = slices.DeleteFunc(slices.Clone(list), func(item any) bool {
			name, _ := item.(string)
			return names[name]
		})
	}
	list, _ := v["allOf"].([]any)
	for _, item := range list {
		if own, ok := item.(map[string]any); ok && own["$ref"] == nil {
			j.allow(own, names)
		}
	}
}

// follow is what an object or a reference means, without its place.
func (j *judge) follow(value any) map[string]any {
	at := j.resolve("", value)
	if at == nil {
		return nil
	}
	return at.value
}

// resolve follows references within the document; nil for what is no object.
func (j *judge) resolve(at string, value any) *located {
	for range 50 {
		own, ok := value.(map[string]any)
		if !ok {
			return nil
		}
		ref, ok := own["$ref"].(string)
		if !ok {
			return &located{at: at, value: own}
		}
		pointer, ok := strings.CutPrefix(ref, "#/")
		if !ok {
			return nil
		}
		value = j.root
		var tokens []string
		for token := range strings.SplitSeq(pointer, "/") {
			if decoded, err := url.PathUnescape(token); err == nil {
				token = decoded
			}
			token = strings.ReplaceAll(strings.ReplaceAll(token, "~1", "/"), "~0", "~")
			switch v := value.(type) {
			case map[string]any:
				value = v[token]
			case []any:
				var i int
				if _, err := fmt.Sscan(token, &i); err != nil || i >= len(v) {
					return nil
				}
				value = v[i]
			default:
				return nil
			}
			tokens = append(tokens, "/"+escapedToken(token))
		}
		at = strings.Join(tokens, "")
	}
	return nil
}

func escapedToken(token string) string {
	return url.PathEscape(strings.ReplaceAll(strings.ReplaceAll(token, "~", "~0"), "/", "~1"))
}

// operation finds an operation by its path as the document writes it.
func (j *judge) operation(path, method string) *located {
	paths, _ := j.root["paths"].(map[string]any)
	item, ok := paths[path]
	if !ok {
		return nil
	}
	at := j.resolve("/paths/"+escapedToken(path), item)
	if at == nil {
		return nil
	}
	key := strings.ToLower(method)
	return j.resolve(at.at+"/"+key, at.value[key])
}

// contentOf is the content of a response, and where its entries are. 2.0 has one schema for all types.
func (j *judge) contentOf(at string, r map[string]any) (map[string]any, func(key string) string) {
	if j.version != 20 {
		content, _ := r["content"].(map[string]any)
		return content, func(key string) string { return at + "/content/" + escapedToken(key) }
	}
	content := map[string]any{}
	if _, ok := r["schema"]; ok {
		content[""] = r
	}
	return content, func(string) string { return at }
}
