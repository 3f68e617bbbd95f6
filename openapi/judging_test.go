package openapi_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// validate judges a value by the schema at a pointer.
func (j *judge) validate(at string, value any) error {
	schema := j.compiled[at]
	if schema == nil {
		compiled, err := j.compiler.Compile(judgeResource + "#" + at)
		if err != nil {
			return fmt.Errorf("the judge cannot compile %s: %w", at, err)
		}
		schema = compiled
		j.compiled[at] = schema
	}
	return schema.Validate(value)
}

// peerSays asks kin-openapi about a JSON body; it says nothing of what it cannot find.
func (j *judge) peerSays(a *judged, media string, value any) error {
	if j.peer == nil || j.peer.Paths == nil {
		return nil
	}
	item := j.peer.Paths.Value(a.path)
	if item == nil || item.GetOperation(a.method) == nil || item.GetOperation(a.method).Responses == nil {
		return nil
	}
	all := item.GetOperation(a.method).Responses
	r := all.Status(a.status)
	if r == nil {
		r = all.Default()
	}
	if r == nil || r.Value == nil || r.Value.Content[media] == nil || r.Value.Content[media].Schema == nil || r.Value.Content[media].Schema.Value == nil {
		return nil
	}
	text, err := json.Marshal(value)
	if err != nil {
		return err
	}
	var own any
	if err := json.Unmarshal(text, &own); err != nil {
		return err
	}
	if err := r.Value.Content[media].Schema.Value.VisitJSON(own, openapi3.VisitAsResponse(), openapi3.SetSchemaRegexCompiler(lenient)); err != nil {
		return fmt.Errorf("kin-openapi: %w", err)
	}
	return nil
}

// lenient lets everything match what RE2 cannot compile.
func lenient(pattern string) (openapi3.RegexMatcher, error) {
	if re, err := regexp.Compile(pattern); err == nil {
		return re, nil
	}
	return regexp.MustCompile(""), nil
}

// textual tells whether a schema allows texts alone.
func (j *judge) textual(schema any) bool { return j.follow(schema)["type"] == "string" }

// header judges the text of a header.
func (j *judge) header(own *located, text string) error {
	at, schema := own.at+"/schema", j.follow(own.value["schema"])
	if j.version == 20 {
		at, schema = own.at, own.value
	}
	var value any
	switch schema["type"] {
	case "string":
		value = text
	case "integer", "number", "boolean":
		decoder := json.NewDecoder(strings.NewReader(text))
		decoder.UseNumber()
		if err := decoder.Decode(&value); err != nil {
			return err
		}
	default:
		return nil
	}
	err := j.validate(at, value)
	if err != nil && (own.value["example"] != nil || own.value["examples"] != nil || schema["example"] != nil) {
		j.excused++
		return nil
	}
	return err
}

// isExample tells whether a value is an example of the document as it stands (rule W39).
func (j *judge) isExample(_ string, media map[string]any, value any) bool {
	var known []any
	add := func(v any, ok bool) {
		if ok {
			known = append(known, v)
		}
	}
	v, ok := media["example"]
	add(v, ok)
	named, _ := media["examples"].(map[string]any)
	for _, name := range sortedKeys(named) {
		if j.version == 20 {
			known = append(known, named[name])
			continue
		}
		v, ok := j.follow(named[name])["value"]
		add(v, ok)
	}
	schema := j.follow(media["schema"])
	v, ok = schema["example"]
	add(v, ok)
	if list, ok := schema["examples"].([]any); ok && len(list) > 0 {
		known = append(known, list[0])
	}
	for _, own := range known {
		if text, ok := own.(string); ok {
			var parsed any
			decoder := json.NewDecoder(strings.NewReader(text))
			decoder.UseNumber()
			if decoder.Decode(&parsed) == nil {
				known = append(known, parsed)
			}
		}
	}
	return slices.ContainsFunc(known, func(own any) bool { return reflect.DeepEqual(own, value) })
}

func sortedKeys(m map[string]any) []string { return slices.Sorted(maps.Keys(m)) }
