package mockbase

import (
	"slices"
	"strings"
)

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
	for _, meaning := range foreignMeanings(name) {
		if slices.Contains(known, meaning) {
			return meaning
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

// foreignNames holds what other mock servers and specifications call our fields, in lower case without - and _. Behind
// the equals sign stands what they mean here; which of several holds is a matter of where the name stands.
const foreignNames = `
urlpath urlpathtemplate uri url endpoint route pathname = path url
urlpathpattern urlpattern pathregex pathpattern = pathMatches
verb methods httpmethod = method
queryparameters queryparams querystring params parameters queries = query
header httpheaders responseheaders = headers
bodypatterns payload requestbody data content = body json text
body jsonbody responsebody = json body
bodyfilename bodyfile filename = file filename
base64body binary bytes = base64
hash checksum digest binaryhash sha = sha256
length bodysize bodylength = size
gql graphqlquery = graphql
string plain html = text
statuscode code httpstatus responsecode = status
fixeddelaymilliseconds delaydistribution latency delayms wait sleep = delay after
scenarioname = scenario
requiredscenariostate requiredstate states = state
newscenariostate newstate nextstate = setState
equalto eq equal is const = equals
equaltojson = json
matchesjsonpath = jsonPath
matchesxpath = xpath
equaltoxml = xml
regex pattern regexp match = matches
caseinsensitive = ignoreCase
absent present exist = exists
disabled active = enabled
rules condition conditions = when
stubs mappings expectations routes = mocks
redirect forward target = proxy to
ratelimiting throttle = rateLimit
callbacks postserveactions hooks = webhooks
requests max = limit
per period interval duration = window
`

// foreignMeanings returns what a name of another tool means here.
func foreignMeanings(name string) []string {
	name = strings.ToLower(strings.NewReplacer("-", "", "_", "").Replace(name))
	for line := range strings.Lines(foreignNames) {
		names, meanings, _ := strings.Cut(line, " = ")
		if slices.Contains(strings.Fields(names), name) {
			return strings.Fields(meanings)
		}
	}
	return nil
}
