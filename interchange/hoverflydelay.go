package interchange

import (
	"regexp"

	"github.com/mockbase/mockbase"
)

// hoverflyDelay is a delay for all requests whose address fits.
type hoverflyDelay struct {
	pattern *regexp.Regexp
	method  string
	delay   *mockbase.Node
}

// hoverflyDelays reads the delays of the whole simulation.
func hoverflyDelays(out *output, actions *object) []hoverflyDelay {
	var delays []hoverflyDelay
	add := func(v value, delay *mockbase.Node) {
		pattern, err := regexp.Compile(v.member("urlPattern").text())
		if err != nil {
			out.lost(v, "the pattern of the delay does not compile: %v", err)
			return
		}
		delays = append(delays, hoverflyDelay{pattern: pattern, method: v.member("httpMethod").text(), delay: delay})
	}
	for _, item := range actions.listOf("delays") {
		out.known(item, "urlPattern", "httpMethod", "delay")
		ms, _ := item.member("delay").number()
		add(item, durationNode(millis(ms)))
	}
	for _, item := range actions.listOf("delaysLogNormal") {
		add(item, out.hoverflyLogNormal(item))
	}
	actions.done()
	return delays
}

// hoverflyLogNormal translates a log-normal delay, which Hoverfly gives by mean and median: sigma is the root of twice the
// logarithm of their quotient.
func (o *output) hoverflyLogNormal(v value) *mockbase.Node {
	number := func(name string) float64 {
		n, _ := v.member(name).number()
		return n
	}
	o.known(v, "urlPattern", "httpMethod", "min", "max", "mean", "median")
	if number("min") > 0 {
		o.lost(v.member("min"), "a log-normal delay has no least time: it is left out")
	}
	inner := with("median", durationNode(millis(number("median"))))
	inner.set("sigma", floatNode(sigmaOf(number("mean"), number("median"))))
	if most := number("max"); most > 0 {
		inner.set("max", durationNode(millis(most)))
	}
	return with("lognormal", inner.node()).node()
}
