package websocket_test

import (
	"encoding/binary"
	"strings"
	"testing"
)

func TestU10_frames_against_the_rules(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		frames [][]byte
		want   []string
	}{
		"unmasked":             {[][]byte{{0x81, 1, 'x'}}, []string{"8 1002"}},
		"reserved bit":         {[][]byte{{0xc1, 0x80, 0, 0, 0, 0}}, nil},
		"unknown opcode":       {[][]byte{{0x83, 0x80, 0, 0, 0, 0}}, nil},
		"bad UTF-8":            {[][]byte{{0x81, 0x81, 0, 0, 0, 0, 0xff}}, []string{"8 1007"}},
		"binary may be any":    {[][]byte{{0x82, 0x81, 0, 0, 0, 0, 0xff}}, []string{"1 \xff"}},
		"ping":                 {[][]byte{{0x89, 0x81, 0, 0, 0, 0, 'p'}}, []string{"10 p"}},
		"fragments are joined": {[][]byte{{0x01, 0x81, 0, 0, 0, 0, 'a'}, {0x89, 0x80, 0, 0, 0, 0}, {0x80, 0x81, 0, 0, 0, 0, 'b'}}, []string{"10 ", "1 ab"}},
		"close is answered":    {[][]byte{{0x88, 0x82, 0, 0, 0, 0, 0x0f, 0xa1}}, []string{"8 4001", "EOF"}},
		"a reason in UTF-8":    {[][]byte{{0x88, 0x84, 0, 0, 0, 0, 0x0f, 0xa1, 0xc3, 0xa4}}, []string{"8 4001 ä", "EOF"}},
		"a reason that is not": {[][]byte{{0x88, 0x83, 0, 0, 0, 0, 0x03, 0xe8, 0xff}}, []string{"8 1007", "EOF"}},
		"close without a code": {[][]byte{{0x88, 0x80, 0, 0, 0, 0}}, []string{"8 ", "EOF"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := dial(t, serve(t, echo()), thirteen)
			for _, frame := range test.frames {
				if _, err := c.Write(frame); err != nil {
					t.Fatal(err)
				}
			}
			c.expect(t, test.want...)
			if test.want == nil {
				if got := c.hear(t); !strings.HasPrefix(got, "8 1002") {
					t.Errorf("heard %q", got)
				}
			}
		})
	}
}

func TestU10_a_message_over_the_limit_closes_with_1009(t *testing.T) {
	t.Parallel()
	script := echo()
	script.MaxMessage = 1000
	v := serve(t, script)
	c := dial(t, v, thirteen)
	c.send(t, 0x81, strings.Repeat("x", 1000))
	c.expect(t, "1 "+strings.Repeat("x", 1000))
	c.send(t, 0x81, strings.Repeat("x", 1001))
	if got := c.hear(t); !strings.HasPrefix(got, "8 1009") {
		t.Errorf("heard %q", got)
	}
	if outcome := <-v.outcomes; outcome.Code != 1009 {
		t.Errorf("ended with %+v", outcome)
	}
}

// What a frame announces reserves nothing: the message ends with the first byte over the limit, and a length that is none at once.
func TestU10_an_announced_length_is_only_a_number(t *testing.T) {
	t.Parallel()
	script := echo()
	script.MaxMessage = 1000
	v := serve(t, script)
	for _, test := range []struct {
		announced uint64
		sent      int
		want      string
	}{
		{1<<63 - 1, 1001, "8 1009"},
		{1001, 1001, "8 1009"},
		{1 << 63, 0, "8 1002"},
		{1<<64 - 1, 0, "8 1002"},
	} {
		c := dial(t, v, thirteen)
		frame := append(binary.BigEndian.AppendUint64([]byte{0x82, 0xff}, test.announced), make([]byte, 4+test.sent)...)
		if _, err := c.Write(frame); err != nil {
			t.Fatal(err)
		}
		if got := c.hear(t); !strings.HasPrefix(got, test.want) {
			t.Errorf("%d bytes announced: heard %q", test.announced, got)
		}
	}
}
