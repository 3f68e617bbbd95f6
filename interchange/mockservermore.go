package interchange

import (
	"encoding/base64"
	"mime"
	"slices"
	"strings"

	"golang.org/x/text/encoding/ianaindex"

	"github.com/mockbase/mockbase"
)

// several translates an expectation with a list of answers, by the way in which one of them is chosen.
func (e *mockserverMock) several(o *object) {
	mode := strings.ToUpper(o.textOf("responseMode"))
	weighted := mode == "RANDOM" || mode == "WEIGHTED"
	if known := []string{"", "SEQUENTIAL", "SWITCH", "RANDOM", "WEIGHTED"}; !slices.Contains(known, mode) {
		e.out.lost(o.get("responseMode"), "the mode %s is not known: the answers come one after the other", quoted(mode))
	}
	list := e.choices(o, mode)
	switch {
	case len(list) == 0:
		e.mock.unanswerable(o.value, "the expectation has no answer")
		return
	case len(list) == 1:
		e.response(list[0].answer, nil)
		return
	case weighted:
		e.mock.set("select", textNode("weighted"))
	default:
		e.mock.set("select", textNode("sequence"))
		e.mock.set("onEnd", textNode("loop"))
	}
	for _, c := range list {
		e.response(c.answer, c.also)
	}
}

// mockserverChoice is one answer of several, with what its weight or turn adds to it.
type mockserverChoice struct {
	answer *object
	also   *doc
}

// choices are the answers of an expectation that may come.
func (e *mockserverMock) choices(o *object, mode string) []mockserverChoice {
	answers, weights := o.listOf("httpResponses"), o.listOf("responseWeights")
	after, _ := o.integerOf("switchAfter")
	var list []mockserverChoice
	for i, v := range answers {
		if len(list) >= maxSteps {
			e.out.lost(v, "a mock has at most %d answers: this one and those after it are left out", maxSteps)
			break
		}
		also := &doc{}
		weight, stated := weightOf(weights, i)
		switch {
		case mode == "WEIGHTED" && stated && weight < 1:
			e.out.lost(v, "the answer has no weight, so that it never comes: it is left out")
			continue
		case mode == "WEIGHTED" && stated:
			also.set("weight", numberNode(weight))
		case mode == "SWITCH" && after > 1:
			also.set("times", numberNode(after))
		}
		list = append(list, mockserverChoice{e.out.object(v), also})
	}
	return list
}

// weightOf is the weight of the answer of an index.
func weightOf(weights []value, i int) (int64, bool) {
	if i >= len(weights) {
		return 0, false
	}
	n, ok := weights[i].integer()
	return n, ok && n >= 0
}

// scenario translates the state that an expectation needs, and the one that it leads to.
func (e *mockserverMock) scenario(o *object) {
	name := o.textOf("scenarioName")
	needed, next := o.textOf("scenarioState"), o.textOf("newScenarioState")
	if name == "" {
		return
	}
	e.mock.set("scenario", textNode(e.out.scenario(name)))
	e.mock.text("state", needed)
	e.state = next
}

// hooks translates the calls that come before and after an answer.
func (e *mockserverMock) hooks(o *object) {
	for _, name := range []string{"beforeActions", "afterActions"} {
		v := o.get(name)
		list := v.items()
		if v.is(mockbase.NodeObject) {
			list = []value{v}
		}
		for _, item := range list {
			hook := e.hook(item)
			if hook == nil {
				e.out.lost(item, "an action that calls no address, or runs code, has no equivalent")
				continue
			}
			if name == "beforeActions" {
				e.out.lost(item, "the call goes out after the answer, not before it")
			}
			e.after = append(e.after, hook)
		}
	}
	if len(e.after) > 0 && !o.has("httpResponse") && !o.has("httpResponses") {
		e.out.lost(o.value, "calls follow an answer of the mock's own alone: they are left out")
		e.after = nil
	}
}

// hook translates one call; nil for one that names no address.
func (e *mockserverMock) hook(item value) *mockbase.Node {
	r := e.out.object(item.member("httpRequest"))
	address := r.get("socketAddress")
	host := address.member("host").text()
	if port := address.member("port").text(); port != "" && host != "" {
		host += ":" + port
	}
	headers := &doc{}
	for _, member := range pairsOf(r.get("headers")) {
		switch {
		case !strings.EqualFold(member.key, "host"):
			headers.set(member.key, textNode(firstItem(member.value)))
		case host == "":
			host = firstItem(member.value)
		}
	}
	if host == "" {
		return nil
	}
	scheme := strings.ToLower(address.member("scheme").text())
	if scheme == "" && r.get("secure").isTrue() {
		scheme = "https"
	}
	r.skip("keepAlive")
	hook := with("url", textNode(firstText(scheme, "http")+"://"+host+"/"+strings.TrimPrefix(r.textOf("path"), "/")))
	hook.set("method", textNode(firstText(strings.ToUpper(r.textOf("method")), "GET")))
	hook.doc("headers", headers)
	if body := r.get("body"); body.scalar() {
		hook.text("text", body.text())
	} else if body.ok() {
		e.hookBody(body, hook)
	}
	hook.set("after", e.delay(item.member("delay")))
	r.done()
	return hook.node()
}

// hookBody sets the body of a call, which is written like that of an answer.
func (e *mockserverMock) hookBody(body value, hook *doc) {
	made := &doc{}
	e.answerBody(body, made)
	for _, name := range []string{"text", "json", "base64"} {
		hook.set(name, made.get(name))
	}
}

// encode writes a text in the character set that its type names, as MockServer sends it.
func (e *mockserverMock) encode(v value, answer *doc) {
	text := answer.get("text")
	if text == nil {
		return
	}
	i := slices.IndexFunc(membersOf(answer.get("headers")).members, func(m mockbase.Member) bool { return strings.EqualFold(m.Key, "Content-Type") })
	if i < 0 {
		return
	}
	encoded, reason := encodedText(answer.get("headers").Members[i].Value.Text, text.Text)
	if reason != "" {
		e.out.lost(v, "%s: it is sent in UTF-8", reason)
	} else if encoded != text.Text {
		answer.remove("text")
		answer.set("base64", textNode(base64.StdEncoding.EncodeToString([]byte(encoded))))
	}
}

// encodedText writes a text in the character set that a media type names. The reason says why that cannot be.
func encodedText(kind, text string) (encoded, reason string) {
	_, parameters, err := mime.ParseMediaType(kind)
	name := strings.ToLower(parameters["charset"])
	if err != nil || name == "" || name == "utf-8" || name == "us-ascii" {
		return text, ""
	}
	charset, err := ianaindex.MIME.Encoding(name)
	if err != nil || charset == nil {
		return text, "the character set " + quoted(name) + " is not known"
	}
	encoded, err = charset.NewEncoder().String(text)
	if err != nil {
		return text, "the body has characters that " + quoted(name) + " does not"
	}
	return encoded, ""
}
