package template

// requestFunctions see the request, the state of the mock and the answer.
var requestFunctions = map[string]*function{
	"path":   placed(inPath, 0),
	"query":  placed(inQuery, 0),
	"cookie": placed(inCookie, 0),
	"form":   placed(inForm, UsesBody),
	"matrix": placed(inMatrix, 0),

	"queryAll":  allOf(inQuery, 0),
	"cookieAll": allOf(inCookie, 0),
	"formAll":   allOf(inForm, UsesBody),
	"headerAll": allOf(inHeader, 0),
	"header":    {least: 1, most: 1, call: header},
	"segment":   {least: 1, most: 1, call: segment},
	"request":   value0(0, requestView),

	"body": value0(UsesBody, func(r *run) any {
		v, ok := r.body()
		if !ok {
			r.note("body")
			return nil
		}
		return fromJSON(v)
	}),
	"bodyText": value0(UsesBody, func(r *run) any {
		if r.scope.Request == nil {
			return nil
		}
		return r.scope.Request.BodyText()
	}),
	"part": {least: 1, most: 1, uses: UsesBody, call: findPart},

	"var":      value0(UsesVariables, func(r *run) any { return variablesView{scope: r.scope} }),
	"state":    value0(UsesState, func(r *run) any { return filled(r.scope.State) }),
	"call":     value0(UsesCall, func(r *run) any { return integer(r.scope.Call) }),
	"session":  value0(UsesSession, func(r *run) any { return r.scope.Session }),
	"seed":     value0(UsesSeed, func(r *run) any { return filled(r.scope.Seed) }),
	"limit":    value0(UsesLimit, func(r *run) any { return limitView(r.scope.Limit) }),
	"response": value0(UsesResponse, func(r *run) any { return responseView(r.scope) }),
	"attempt": value0(UsesAttempt, func(r *run) any {
		if r.scope.Attempt == 0 {
			return nil
		}
		return integer(int64(r.scope.Attempt))
	}),
}

// placed makes the function that shows a place of the request.
func placed(in place, uses Uses) *function {
	f := value0(uses, func(r *run) any { return named{r: r, in: in} })
	f.holds, f.in = true, in
	return f
}

// allOf makes the function that lists all values of a name (rule P11).
func allOf(in place, uses Uses) *function {
	return &function{least: 1, most: 1, uses: uses, call: func(r *run, arguments []any) (any, error) {
		return texts(r.values(in, textOf(arguments[0]))), nil
	}}
}

func header(r *run, arguments []any) (any, error) {
	name := textOf(arguments[0])
	e := firstValue{in: inHeader, name: name, text: describe("header", name)}
	return e.evaluate(r)
}

func segment(r *run, arguments []any) (any, error) {
	n, err := toInt(arguments[0])
	if err != nil || r.scope.Request == nil {
		return nil, err
	}
	text, ok := r.scope.Request.Segment(int(n))
	if !ok {
		r.note("segment " + textOf(arguments[0]))
		return nil, nil
	}
	return text, nil
}

func findPart(r *run, arguments []any) (any, error) {
	name := textOf(arguments[0])
	if r.scope.Request != nil {
		if p, ok := r.scope.Request.Part(name); ok {
			return partView(p), nil
		}
	}
	r.note(describe("part", name))
	return nil, nil
}
