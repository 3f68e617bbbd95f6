package jsonvalue_test

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/mockbase/mockbase/engine/jsonvalue"
)

func TestValuesAreMade(t *testing.T) {
	t.Parallel()
	number, err := jsonvalue.NewNumber("1.50")
	if err != nil {
		t.Fatal(err)
	}
	v := jsonvalue.NewObject(
		jsonvalue.Member{Name: "n", Value: number},
		jsonvalue.Member{Name: "a", Value: jsonvalue.NewArray(jsonvalue.NewNull(), jsonvalue.NewBool(true), jsonvalue.NewBool(false), jsonvalue.NewInt(-7))},
		jsonvalue.Member{Name: "s", Value: jsonvalue.NewString("<é>")},
		jsonvalue.Member{Name: "n", Value: jsonvalue.NewArray()},
		jsonvalue.Member{Name: "o", Value: jsonvalue.NewObject()},
	)
	if got := v.String(); got != `{"a":[null,true,false,-7],"s":"<é>","n":[],"o":{}}` {
		t.Errorf("made %s", got)
	}
	if v.Duplicate() != "n" {
		t.Errorf("the name given twice is %q", v.Duplicate())
	}
	if _, err := jsonvalue.NewNumber("1."); err == nil {
		t.Error("1. is a number")
	}
}

func TestValuesAreMadeOfAny(t *testing.T) {
	t.Parallel()
	v, err := jsonvalue.FromAny(map[string]any{
		"b": []any{nil, true, "x", json.Number("1.0"), 1, int64(2), 2.5, json.RawMessage(`{"z":1}`), jsonvalue.NewInt(3)}, "a": map[string]any{},
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := v.String(); got != `{"a":{},"b":[null,true,"x",1.0,1,2,2.5,{"z":1},3]}` {
		t.Errorf("made %s", got)
	}
	for _, x := range []any{
		math.NaN(), math.Inf(1), json.Number("x"), json.RawMessage("{"), struct{}{}, []any{struct{}{}}, map[string]any{"a": struct{}{}},
	} {
		if v, err := jsonvalue.FromAny(x); err == nil {
			t.Errorf("%v makes %v", x, v)
		}
	}
}

func TestAPreviewIsCut(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text string
		most int
		want string
	}{
		{`{"a":[1,2,"x"],"b":null}`, 100, `{"a":[1,2,"x"],"b":null}`},
		{`{"a":[1,2,"x"],"b":null}`, 8, `{"a":[1,…`},
		{`"ééééé"`, 4, `"é…`},
		{`[[[[]]]]`, 3, `[[[…`},
		{`123456`, 3, `123…`},
		{`{"a":1,"b":2,"c":3}`, 6, `{"a":1…`},
	} {
		if got := parse(t, c.text).Preview(c.most); got != c.want {
			t.Errorf("%s: %s, want %s", c.text, got, c.want)
		}
	}
}
