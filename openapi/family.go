package openapi

import (
	"encoding/base64"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// mostSpliced bounds the texts of a value that are put together of a pattern and a format.
const mostSpliced = 20_000

// family are texts of a format in the forms that patterns and lengths ask for, each with the number of the value in another place:
// fractions of seconds, offsets, and what is short.
func (g *generator) family(format string) []string {
	n := int64(g.variant)
	if g.random != nil {
		n = g.random.Int64N(1 << 20)
	}
	small := strconv.FormatInt(1+n%59, 10)
	switch format {
	case "date":
		return dates(n)
	case "time":
		return combined(clocks(n), fractions(n), []string{"Z", "+00:00", "-00:00"})
	case "date-time":
		return combined(dates(n), []string{"T", "t"}, clocks(n), fractions(n), []string{"Z", "+00:00", "-00:00"})
	case "duration":
		return combined([]string{"P"}, []string{"T" + small + "S", small + "D", "T" + small + "M", "T" + small + "H", small + "W", small + "M", small + "Y", small + "DT1H"})
	default:
		return places(format, small)
	}
}

// places are texts of the formats of names and addresses.
func places(format, small string) []string {
	switch format {
	case "email", "idn-email":
		return []string{"user@example.com", "user" + small + "@example.org", "user@a.co", "a@b.co", "a@b"}
	case "hostname", "idn-hostname":
		return []string{"example.com", "localhost", "host", "a.b", "a"}
	case "ipv4", "ip":
		return []string{"192.168.0." + small, "10.0.0." + small, "127.0.0.1", "1.1.1.1"}
	case "ipv6":
		return []string{"2001:0db8:0000:0000:0000:0000:0000:00" + small, "2001:db8:0:0:0:0:0:" + small, "fe80::" + small, "::1", "::"}
	case "uri", "url", "iri":
		return []string{"https://example.com", "http://example.com/" + small, "http://a.co", "urn:a", "a:b"}
	case "uri-reference", "iri-reference", "uri-template":
		return []string{"https://example.com/" + small, "path", "/a", "a"}
	case "json-pointer", "relative-json-pointer":
		return []string{"/a", "0/a", "0", ""}
	default:
		return nil
	}
}

// dates have the number as day, as month, and as year.
func dates(n int64) []string {
	return []string{"2020-01-" + pad(1+n%28, 2), pad(2020+n/12%1000, 4) + "-" + pad(1+n%12, 2) + "-01", pad(2020+n%1000, 4) + "-01-01"}
}

// clocks have the number as hour, as minute, and as second.
func clocks(n int64) []string {
	return []string{"00:00:00", pad(n%24, 2) + ":00:00", "00:" + pad(n%60, 2) + ":00", "00:00:" + pad(n%60, 2)}
}

func fractions(n int64) []string {
	list := []string{""}
	for _, digits := range []int{3, 6, 1, 2, 9} {
		text := pad(n, digits)
		list = append(list, "."+text[len(text)-digits:])
	}
	return list
}

// combined are all texts that have one of each list, in order.
func combined(lists ...[]string) []string {
	all := []string{""}
	for _, list := range lists {
		var next []string
		for _, front := range all {
			for _, own := range list {
				next = append(next, front+own)
			}
		}
		all = next
	}
	return all
}

// technical is a text of one of the formats that programs read, "" for none that is known.
func technical(format string, n int64) string {
	suffix := ""
	if n > 0 {
		suffix = strconv.FormatInt(n, 10)
	}
	switch format {
	case "byte":
		return base64.StdEncoding.EncodeToString([]byte("string" + suffix))
	case "password":
		return "string" + suffix
	case "json-pointer":
		return "/string" + suffix
	case "relative-json-pointer":
		return "0/string" + suffix
	case "period":
		return "2020-01-01T00:00:00Z/PT" + strconv.FormatInt(1+n, 10) + "S"
	case "semver":
		return "1.0." + strconv.FormatInt(n, 10)
	case "regex":
		if n > 0 {
			return "^.{0," + strconv.FormatInt(n%1000, 10) + "}$"
		}
		return "^.*$"
	default:
		return ""
	}
}

// formal tells whether a text is of a format. One that nobody knows allows all texts.
func (s *schemas) formal(format, text string) bool {
	if format == "" || strings.HasSuffix(format, "email") && strings.HasPrefix(text, "@") {
		return format == ""
	}
	known, ok := s.formats.Load(format)
	if !ok {
		const address = baseOfSchemas + "format"
		c := jsonschema.NewCompiler()
		c.DefaultDraft(jsonschema.Draft2020)
		c.AssertFormat()
		registerFormats(c)
		var own *jsonschema.Schema
		if err := c.AddResource(address, map[string]any{"format": format}); err == nil {
			own, err = c.Compile(address)
			if err != nil {
				own = nil
			}
		}
		known, _ = s.formats.LoadOrStore(format, own)
	}
	own, _ := known.(*jsonschema.Schema)
	return own == nil || own.Validate(text) == nil
}

// spliced puts a text of a pattern into texts of the format, in place of each part of them in turn, until one meets everything:
// patterns speak of the beginning, the end or a part alone, and the format says what is around it.
func (g *generator) spliced(format, part string, meets func(text string) bool) (string, bool) {
	for _, base := range slices.Concat([]string{g.formatted(format)}, g.shortened(format)) {
		for from := len(base); from >= 0; from-- {
			for to := len(base); to >= from; to-- {
				if g.joined++; g.joined > mostSpliced {
					return "", false
				}
				if text := base[:from] + part + base[to:]; meets(text) {
					return text, true
				}
			}
		}
	}
	return "", false
}

// shortened are the forms of a format that are told apart by more than digits.
func (g *generator) shortened(format string) []string {
	list := g.family(format)
	return slices.DeleteFunc(list, func(text string) bool { return strings.ContainsAny(text, "tT") && strings.Contains(text, ":00") })
}
