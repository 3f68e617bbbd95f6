package mockbase

import "strings"

// maxDistance is the most edits between a wrong name and a suggestion (mock format, section 5).
const maxDistance = 2

// Suggest returns the name of known that the author of name most likely meant, or "" if none is near: one that differs
// in letter case alone, what another tool's name means here (urlPath is path), or one within two edits.
func Suggest(name string, known []string) string {
	for _, k := range known {
		if strings.EqualFold(name, k) {
			return k
		}
	}
	if k := translated(name, known); k != "" {
		return k
	}
	best, bestDistance := "", maxDistance+1
	if len(name) <= 3 {
		// Two edits turn any short word into any other.
		bestDistance = 2
	}
	for _, k := range known {
		if d := distance(name, k, bestDistance); d < bestDistance {
			best, bestDistance = k, d
		}
	}
	return best
}

// translated looks name up among the words of other tools and returns the first meaning that is known here.
func translated(name string, known []string) string {
	for _, meaning := range strings.Fields(foreignName(name)) {
		for _, k := range known {
			if meaning == k {
				return k
			}
		}
	}
	return ""
}

// distance counts the insertions, deletions, replacements and swaps of neighbours between a and b (optimal string
// alignment), giving up at limit.
func distance(a, b string, limit int) int {
	if d := len(a) - len(b); d >= limit || -d >= limit {
		return limit
	}
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			row[j] = editCost(a[:i], b[:j], before, last, row)
		}
		before, last, row = last, row, before
	}
	return min(last[len(b)], limit)
}

// editCost is the cheapest way from a to b, given the costs of their shorter prefixes.
func editCost(a, b string, before, last, row []int) int {
	i, j := len(a), len(b)
	cost := 1
	if a[i-1] == b[j-1] {
		cost = 0
	}
	best := min(last[j]+1, row[j-1]+1, last[j-1]+cost)
	if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
		best = min(best, before[j-2]+1)
	}
	return best
}

// foreignName holds what other mock servers and specifications call our fields. Several meanings are separated by
// blanks; which one holds is a matter of where the name stands.
func foreignName(name string) string {
	switch strings.ToLower(strings.NewReplacer("-", "", "_", "").Replace(name)) {
	case "urlpath", "urlpathtemplate", "uri", "url", "endpoint", "route", "pathname":
		return "path url"
	case "urlpathpattern", "urlpattern", "pathregex", "pathpattern":
		return "pathMatches"
	case "verb", "methods", "httpmethod":
		return "method"
	case "queryparameters", "queryparams", "querystring", "params", "parameters", "queries":
		return "query"
	case "header", "httpheaders", "responseheaders":
		return "headers"
	case "bodypatterns", "payload", "requestbody", "data", "content":
		return "body json text"
	case "body", "jsonbody", "responsebody":
		return "json body"
	case "bodyfilename", "bodyfile", "filename":
		return "file filename"
	case "base64body", "binary", "bytes":
		return "base64"
	case "string", "plain", "html":
		return "text"
	case "statuscode", "code", "httpstatus", "responsecode":
		return "status"
	default:
		return foreignBehaviour(name)
	}
}

// foreignBehaviour is the part of foreignName about conditions and behaviour.
func foreignBehaviour(name string) string {
	switch strings.ToLower(strings.NewReplacer("-", "", "_", "").Replace(name)) {
	case "fixeddelaymilliseconds", "delaydistribution", "latency", "delayms", "wait", "sleep":
		return "delay after"
	case "scenarioname":
		return "scenario"
	case "requiredscenariostate", "requiredstate", "states":
		return "state"
	case "newscenariostate", "newstate", "nextstate":
		return "setState"
	case "equalto", "eq", "equal", "is", "const":
		return "equals"
	case "equaltojson":
		return "json"
	case "matchesjsonpath":
		return "jsonPath"
	case "matchesxpath":
		return "xpath"
	case "equaltoxml":
		return "xml"
	case "regex", "pattern", "regexp", "match":
		return "matches"
	case "caseinsensitive":
		return "ignoreCase"
	case "absent", "present", "exist":
		return "exists"
	case "disabled", "active":
		return "enabled"
	case "rules", "condition", "conditions":
		return "when"
	case "stubs", "mappings", "expectations", "routes":
		return "mocks"
	case "redirect", "forward", "target":
		return "proxy to"
	case "ratelimiting", "throttle":
		return "rateLimit"
	case "callbacks", "postserveactions", "hooks":
		return "webhooks"
	case "requests", "max":
		return "limit"
	case "per", "period", "interval", "duration":
		return "window"
	}
	return ""
}
