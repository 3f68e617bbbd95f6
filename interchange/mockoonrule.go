package interchange

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/mockbase/mockbase"
)

// mockoonCondition translates one rule. The reason says why it has no equivalent.
func mockoonCondition(v value) (condition *doc, reason string) {
	if strings.Contains(v.member("value").text()+v.member("modifier").text(), "{{") {
		return nil, "a rule with a template has no equivalent"
	}
	target := v.member("target").text()
	if target == "request_number" {
		condition, reason = callCondition(v)
	} else {
		condition, reason = mockoonTarget(v, target)
	}
	if reason == "" && v.member("invert").isTrue() {
		condition = with("not", condition.node())
	}
	return condition, reason
}

func mockoonTarget(v value, target string) (*doc, string) {
	name := v.member("modifier").text()
	section := map[string]string{"header": "headers", "query": "query", "cookie": "cookies", "params": "path"}[target]
	switch {
	case target == "body":
		return mockoonBody(v, name)
	case section == "" || name == "":
		return nil, "a rule about " + quoted(target) + " has no equivalent"
	case target == "query" && (strings.HasPrefix(name, "$") || strings.Contains(name, ".")):
		return nil, "a rule about a part of a parameter has no equivalent"
	}
	match, reason := mockoonMatch(v)
	if reason != "" {
		return nil, reason
	}
	return with(section, with(name, match).node()), ""
}

// mockoonMatch translates the operator of a rule on a text.
func mockoonMatch(v value) (*mockbase.Node, string) {
	text := v.member("value").text()
	switch operator := v.member("operator").text(); operator {
	case "", "equals", "array_includes":
		return with("equals", textNode(text)).node(), ""
	case "null":
		return with("exists", falseNode()).node(), ""
	case "empty_array":
		return with("count", numberNode(0)).node(), ""
	case "regex", "regex_i":
		pattern, ok := scriptExpression(text, operator == "regex_i")
		if !ok {
			return nil, "the regular expression " + quoted(text) + " does not compile as RE2"
		}
		return with("search", textNode(pattern)).node(), ""
	default:
		return nil, "the operator " + quoted(operator) + " has no equivalent"
	}
}

// scriptExpression takes a regular expression as scripts write it: alone, or between slashes with flags.
func scriptExpression(text string, fold bool) (string, bool) { //nolint:revive // the operator says so
	if end := strings.LastIndexByte(text, '/'); end > 0 && text[0] == '/' && strings.Trim(text[end+1:], "gimsu") == "" {
		fold = fold || strings.Contains(text[end+1:], "i")
		text = text[1:end]
	}
	if fold {
		text = "(?i)" + text
	}
	return text, checkExpression(text) == nil
}

// mockoonBody translates a rule about the body, or a part of it: a JSON document, or the fields of a form.
func mockoonBody(v value, name string) (*doc, string) {
	if v.member("operator").text() == "valid_json_schema" {
		n, err := mockbase.ParseNode([]byte(v.member("value").text()), mockbase.FormatJSON, mockbase.ParseLimits{Depth: maxDepth})
		if err != nil || name != "" {
			return nil, "the schema is not here, or is for a part of the body"
		}
		return with("body", with("schema", n).node()), ""
	}
	match, reason := mockoonMatch(v)
	switch {
	case reason != "":
		return nil, reason
	case name != "":
		return mockoonPart(v, name)
	case v.member("operator").text() == "null":
		return with("body", with("empty", trueNode()).node()), ""
	}
	return with("body", with("text", match).node()), ""
}

// mockoonPart translates a rule about a part of the body, which may be a field of a form as well.
func mockoonPart(v value, name string) (*doc, string) {
	node, reason := mockoonNode(v, name)
	if reason != "" {
		return nil, reason
	}
	byJSON := with("body", with("jsonPath", node).node())
	operator := v.member("operator").text()
	if !isIdentifier(name) || operator == "empty_array" || operator == "array_includes" {
		return byJSON, ""
	}
	field, _ := mockoonMatch(v)
	byField := with("body", with("form", with(name, field).node()).node())
	if operator == "null" {
		return with("allOf", listNode(byJSON.node(), byField.node())), ""
	}
	return with("anyOf", listNode(byJSON.node(), byField.node())), ""
}

// mockoonNode translates a rule about a node of a JSON body, as an object of a JSONPath and its condition.
func mockoonNode(v value, name string) (*mockbase.Node, string) {
	match, reason := mockoonMatch(v)
	if reason != "" {
		return nil, reason
	}
	path, err := standardPath(scriptPath(name))
	if err != nil {
		return nil, "the path " + quoted(name) + " " + err.Error()
	}
	either := &doc{}
	textOrValue(v.member("value").text(), either)
	switch v.member("operator").text() {
	case "", "equals":
		match = either.node()
	case "array_includes":
		path, match = path+"[*]", either.node()
	case "empty_array":
		match = with("equals", listNode()).node()
	}
	return with(path, match).node(), ""
}

// scriptPath writes a path such as items.0.name as JSONPath. A dot behind a backslash is part of a name.
func scriptPath(text string) string {
	if strings.HasPrefix(text, "$") {
		return text
	}
	var b strings.Builder
	b.WriteString("$")
	for part := range strings.SplitSeq(strings.ReplaceAll(text, `\.`, "\x00"), ".") {
		part = strings.ReplaceAll(part, "\x00", ".")
		switch {
		case isDigits(part):
			b.WriteString("[" + part + "]")
		case isIdentifier(part):
			b.WriteString("." + part)
		default:
			b.WriteString("[" + strconv.Quote(part) + "]")
		}
	}
	return b.String()
}

// callCondition translates a rule about how often the route was called. An expression counts as the calls that it names.
func callCondition(v value) (*doc, string) {
	text := v.member("value").text()
	switch v.member("operator").text() {
	case "", "equals":
		if n, ok := v.member("value").integer(); ok {
			return with("call", numberNode(n)), ""
		}
	case "regex", "regex_i":
		re, err := regexp.Compile(text)
		const most, beyond = 50, 2000
		var list []*mockbase.Node
		for n := int64(1); err == nil && n <= beyond; n++ {
			if !re.MatchString(strconv.FormatInt(n, 10)) {
				continue
			}
			if list = append(list, numberNode(n)); n > most {
				return nil, "the condition " + quoted(text) + " on the number of the call has no equivalent"
			}
		}
		if len(list) > 0 {
			return with("call", with("in", listNode(list...)).node()), ""
		}
	}
	return nil, "the condition " + quoted(text) + " on the number of the call has no equivalent"
}
