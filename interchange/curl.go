package interchange

import (
	"bytes"
	"net/url"
	"regexp"
	"strings"
)

// curl translates commands: each address becomes a mock for requests like that of the command. Nothing says what it answers,
// so that it is an empty 200.
func curl(s *source, out *output) error {
	var text strings.Builder
	for _, f := range s.files {
		text.Write(bytes.TrimPrefix(f.Text, []byte("\ufeff")))
		text.WriteByte('\n')
	}
	set, known := newSavedSet(out), false
	for _, c := range shellCommands(text.String()) {
		if out.stopped() {
			return nil
		}
		// Variables of the shell may be set before the command.
		for len(c.words) > 1 && assignment.MatchString(c.words[0]) {
			c.words = c.words[1:]
		}
		if name := strings.TrimSuffix(c.words[0], ".exe"); name != "curl" {
			out.lost(c.place(), "the command %s is not curl: it is left out", quoted(dollars(c.words[0])))
			continue
		}
		known = true
		(&curlCommand{out: out, from: c.place(), method: "", set: set}).translate(c.words[1:])
	}
	if !known {
		return malformed("the text holds no curl command: looked for a line that begins with curl")
	}
	set.finish()
	return nil
}

var (
	assignment = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*=`)
	// shellVariable is a variable in an address, and globbed what curl itself takes for several addresses.
	shellVariable = regexp.MustCompile(`\$(?:\{([A-Za-z_][A-Za-z0-9_]*)\}|([A-Za-z_][A-Za-z0-9_]*))`)
	globbed       = regexp.MustCompile(`\{[^{}]*,[^{}]*\}|\[[0-9a-zA-Z]+-[0-9a-zA-Z]+(?::\d+)?\]`)
)

// curlCommand translates one command.
type curlCommand struct {
	out    *output
	set    *savedSet
	from   value
	method string
	urls   []string
	data   []string
	// fields are those of a form in parts, written like a query.
	fields []string
	kind   string
	get    bool
	form   bool
	// plain tells that curl takes braces and brackets of addresses as they are.
	plain bool
}

// translate reads options and addresses.
func (c *curlCommand) translate(words []string) {
	for len(words) > 0 {
		word := words[0]
		words = words[1:]
		switch {
		case strings.HasPrefix(word, "--"):
			name, inline, has := strings.Cut(word, "=")
			if !has && takesValue(name) && len(words) > 0 {
				inline, words = words[0], words[1:]
			}
			c.option(name, inline)
		case strings.HasPrefix(word, "-") && word != "-":
			words = c.letters(word[1:], words)
		default:
			c.urls = append(c.urls, word)
		}
	}
	for _, address := range c.urls {
		c.out.found++
		c.address(address)
	}
	if len(c.urls) == 0 {
		c.out.found++
		c.out.lost(c.from, "the command has no address: it is left out")
	}
}

// letters reads short options, several of which may stand behind one dash. It returns the words that are left.
func (c *curlCommand) letters(text string, words []string) []string {
	for i := range len(text) {
		name := shortOption(text[i])
		if !takesValue(name) {
			c.option(name, "")
			continue
		}
		rest := text[i+1:]
		if rest == "" && len(words) > 0 {
			rest, words = words[0], words[1:]
		}
		c.option(name, rest)
		break
	}
	return words
}

// shortOption returns the long name of an option.
func shortOption(letter byte) string {
	names := map[byte]string{
		'X': "--request", 'd': "--data", 'H': "--header", 'F': "--form", 'G': "--get", 'I': "--head", 'u': "--user", 'b': "--cookie",
		'A': "--user-agent", 'e': "--referer", 'o': "--output", 'T': "--upload-file", 'm': "--max-time", 'x': "--proxy", 'w': "--write-out",
		'c': "--cookie-jar", 'K': "--config", 'E': "--cert", 'r': "--range", 'D': "--dump-header", 'U': "--proxy-user", 'y': "--speed-time",
		'Y': "--speed-limit", 'z': "--time-cond", 'C': "--continue-at", 'P': "--ftp-port", 'Q': "--quote", 't': "--telnet-option",
	}
	if name, ok := names[letter]; ok {
		return name
	}
	return "-" + string(rune(letter))
}

// takesValue tells whether an option is followed by a value.
func takesValue(name string) bool {
	switch name {
	case "--get", "--head", "--location", "--silent", "--insecure", "--compressed", "--verbose", "--include", "--fail", "--show-error", "--globoff",
		"--http1.0", "--http1.1", "--http2", "--http3", "--no-buffer", "--remote-name", "--ipv4", "--ipv6", "--fail-with-body", "--progress-bar",
		"--basic", "--digest", "--anyauth", "--negotiate", "--ntlm", "--no-keepalive", "--path-as-is", "--tcp-nodelay", "--location-trusted",
		"--remote-header-name", "--raw", "--parallel", "--next", "--http2-prior-knowledge", "--no-progress-meter", "--ssl-reqd", "--tlsv1.2", "--tlsv1.3":
		return false
	}
	return strings.HasPrefix(name, "--")
}

// option takes over what an option says of the request.
func (c *curlCommand) option(name, text string) {
	flags := map[string]*bool{"--get": &c.get, "--globoff": &c.plain, "-g": &c.plain}
	if flag := flags[name]; flag != nil {
		*flag = true
		return
	}
	if name == "--url" {
		c.urls = append(c.urls, text)
		return
	}
	c.stated(name, dollars(text))
}

// stated takes over what an option with a value says.
func (c *curlCommand) stated(name, text string) {
	switch name {
	case "--request":
		c.method = strings.ToUpper(text)
	case "--header":
		if key, rest, ok := strings.Cut(text, ":"); ok && strings.EqualFold(strings.TrimSpace(key), "Content-Type") {
			c.kind = strings.TrimSpace(rest)
		}
	case "--data", "--data-ascii", "--data-binary", "--data-raw", "--data-urlencode", "--json":
		c.body(name, text)
	case "--form", "--form-string":
		c.field(name, text)
	case "--head":
		c.method = "HEAD"
	case "--upload-file":
		c.out.lost(c.from, "the file that is uploaded is not here: the body is no condition")
		c.method = firstText(c.method, "PUT")
	case "--config", "--next", "--range", "--time-cond":
		c.out.lost(c.from, "the option %s has no equivalent", name)
	}
}

// field reads a field of a form in parts. What comes from a file is no condition.
func (c *curlCommand) field(name, text string) {
	c.form = true
	key, rest, ok := strings.Cut(text, "=")
	switch {
	case !ok:
		c.out.lost(c.from, "the field %s of the form has no value: it is no condition", quoted(text))
	case name == "--form" && strings.HasPrefix(rest, "@"), name == "--form" && strings.HasPrefix(rest, "<"):
		c.out.lost(c.from, "the file %s is not here: the field %s is no condition", quoted(rest[1:]), quoted(key))
	default:
		if name == "--form" {
			rest, _, _ = strings.Cut(rest, ";type=")
		}
		c.fields = append(c.fields, formEscape(key)+"="+formEscape(rest))
	}
}

func (c *curlCommand) body(name, text string) {
	switch {
	case name != "--data-raw" && strings.HasPrefix(text, "@"):
		c.out.lost(c.from, "the file %s is not here: the body is no condition", quoted(text[1:]))
		text = ""
	case name == "--data-urlencode":
		key, rest, ok := strings.Cut(text, "=")
		if !ok {
			key, rest = "", key
		}
		if text = formEscape(rest); key != "" {
			text = key + "=" + text
		}
	case name == "--json":
		c.kind = firstText(c.kind, "application/json")
	}
	c.data = append(c.data, text)
}

// address makes a request like that of the command. A variable of the shell stands for anything.
func (c *curlCommand) address(text string) {
	if !strings.Contains(text, "://") {
		text = "http://" + text
	}
	// A variable before the path is the server's address, which is no condition.
	named := dollars(shellVariable.ReplaceAllString(text, "open-$1$2-variable"))
	text = dollars(text)
	u, err := url.Parse(named)
	if err != nil || u.Host == "" {
		c.out.lost(c.from, "the address %s is no URL: it is left out", quoted(text))
		return
	}
	if !c.plain && globbed.MatchString(u.EscapedPath()+"?"+u.RawQuery+named) {
		c.out.lost(c.from, "curl takes {…} and […] for several addresses: they are read as one, as they stand")
	}
	x := &saved{from: c.from, method: c.method, path: sentPath(named), literal: true, query: queryPairs(u.RawQuery)}
	c.variables(x)
	data := strings.Join(c.data, "&")
	switch {
	case c.get:
		x.query = append(x.query, queryPairs(data)...)
	case c.form:
		x.method = firstText(x.method, "POST")
		x.body = savedBody{text: strings.Join(c.fields, "&"), kind: "multipart/form-data"}
	case len(c.data) > 0:
		x.method = firstText(x.method, "POST")
		x.body = savedBody{text: data, kind: firstText(c.kind, "application/x-www-form-urlencoded")}
	}
	x.method = firstText(x.method, "GET")
	const found = 200
	x.answer = with("status", numberNode(found))
	c.out.lost(c.from, "a command says nothing about the answer: the mock for %s answers 200 without a body", quoted(x.method+" "+x.path))
	c.set.add(x)
}

// openVariable is what stands for a variable of the shell in an address.
var openVariable = regexp.MustCompile(`open-([A-Za-z0-9_]+)-variable`)

// variables makes what variables of the shell stand for open: a segment of the path is a parameter, and the value of a
// parameter anything.
func (c *curlCommand) variables(x *saved) {
	found := openVariable.FindStringSubmatch(x.path)
	if found != nil {
		segments, taken := strings.Split(x.path, "/"), map[string]bool{}
		for i, segment := range segments {
			name := openVariable.FindStringSubmatch(segment)
			switch {
			case name != nil:
				segments[i] = parameter(name[1], taken)
			default:
				segments[i] = literalSegment(segment)
			}
		}
		x.path, x.literal = strings.Join(segments, "/"), false
		c.out.lost(c.from, "the shell's variable %s is not known: anything fits in its place", quoted(found[1]))
	}
	for i := range x.query {
		x.query[i].text = openVariable.ReplaceAllString(x.query[i].text, "{{$1}}")
	}
}
