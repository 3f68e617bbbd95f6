package websocket_test

import (
	"testing"

	"github.com/mockbase/mockbase/engine/websocket"
)

func TestU11_the_first_rule_whose_condition_holds_answers(t *testing.T) {
	t.Parallel()
	script := &websocket.Script{
		OnConnect: []websocket.Message{{Data: says("hello")}, {Kind: websocket.Ping, Data: says("you there")}},
		Rules: []websocket.Rule{
			{Reply: []websocket.Message{{Data: says("other")}}},
			{When: is("ping"), Reply: []websocket.Message{{Data: says("pong")}, {Kind: websocket.Binary, Data: says("\x00")}}},
			{When: is("ping"), Reply: []websocket.Message{{Data: says("never")}}},
			{When: is("bye"), Reply: []websocket.Message{{Kind: websocket.Close, Code: 4002, Data: says("bye")}, {Data: says("never")}}},
		},
	}
	v := serve(t, script)
	c := dial(t, v, thirteen)
	c.expect(t, "1 hello", "9 you there")
	for sent, want := range map[string][]string{"ping": {"1 pong", "2 \x00"}, "x": {"1 other"}} {
		c.send(t, 0x81, sent)
		c.expect(t, want...)
	}
	c.send(t, 0x81, "bye")
	c.expect(t, "8 4002 bye")
	c.send(t, 0x88, "\x0f\xa2")
	c.expect(t, "EOF")
	if outcome := <-v.outcomes; outcome.Code != 4002 || outcome.Err != nil {
		t.Errorf("ended with %+v", outcome)
	}
}

func TestU11_messages_that_no_rule_is_for(t *testing.T) {
	t.Parallel()
	only := []websocket.Rule{{When: is("known"), Reply: []websocket.Message{{Data: says("yes")}}}}
	ignoring := serve(t, &websocket.Script{Rules: only})
	c := dial(t, ignoring, thirteen)
	c.send(t, 0x81, "unknown")
	c.send(t, 0x81, "known")
	c.expect(t, "1 yes")
	if heard := <-ignoring.heard; !heard.Ignored || string(heard.Data) != "unknown" || heard.At.IsZero() {
		t.Errorf("heard %+v", heard)
	}
	c = dial(t, serve(t, &websocket.Script{Rules: only, Strict: true}), thirteen)
	c.send(t, 0x81, "unknown")
	c.expect(t, "8 1008")
}
