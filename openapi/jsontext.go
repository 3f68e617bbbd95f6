package openapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/mockbase/mockbase"
)

// maxDigits bounds the numbers that are compared exactly: others would cost more than they are worth.
const maxDigits = 400

// errTrailing is what follows a JSON value.
var errTrailing = errors.New("something follows the value")

// parseJSON reads one JSON value, numbers as they are written.
func parseJSON(text []byte) (any, error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		if errors.Is(err, io.EOF) {
			return nil, errors.New("there is no value")
		}
		return nil, err
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, errTrailing
	}
	return boundedAll(value), nil
}

// boundedAll bounds every number of a value.
func boundedAll(value any) any {
	switch v := value.(type) {
	case json.Number:
		return bounded(v)
	case []any:
		for i := range v {
			v[i] = boundedAll(v[i])
		}
	case map[string]any:
		for name := range v {
			v[name] = boundedAll(v[name])
		}
	}
	return value
}

// bounded is a number that can be compared exactly: the number itself, or the nearest one of a double where it is too long.
func bounded(n json.Number) json.Number {
	text := string(n)
	if len(text) <= maxDigits {
		at := strings.IndexAny(text, "eE")
		if at < 0 {
			return n
		}
		if exponent, err := strconv.Atoi(text[at+1:]); err == nil && -maxDigits < exponent && exponent < maxDigits {
			return n
		}
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil && math.IsInf(f, 0) {
		f = math.Copysign(math.MaxFloat64, f)
	}
	return json.Number(strconv.FormatFloat(f, 'g', -1, 64))
}

// plain turns a node into the values of encoding/json.
func plain(n *mockbase.Node) any {
	switch n.Kind {
	case mockbase.NodeNull:
		return nil
	case mockbase.NodeBool:
		return n.Text == "true"
	case mockbase.NodeNumber:
		return bounded(json.Number(n.Text))
	case mockbase.NodeText:
		return n.Text
	case mockbase.NodeList:
		list := make([]any, len(n.Items))
		for i, item := range n.Items {
			list[i] = plain(item)
		}
		return list
	default:
		object := make(map[string]any, len(n.Members))
		for i := range n.Members {
			object[n.Members[i].Key] = plain(n.Members[i].Value)
		}
		return object
	}
}
