package ratelimit_test

import (
	"context"
	"fmt"
	"time"

	"github.com/mockbase/mockbase/ratelimit"
	"github.com/mockbase/mockbase/ratelimit/memstore"
)

func Example() {
	store, err := memstore.New(memstore.Options{})
	if err != nil {
		panic(err)
	}
	policies, err := ratelimit.ParseRules("10/10s algorithm=token_bucket burst=2 name=search")
	if err != nil {
		panic(err)
	}
	r := ratelimit.Request{
		Key:    ratelimit.Key{Namespace: "search", Identifier: "203.0.113.9"},
		Policy: &policies[0],
		Cost:   1,
		Now:    time.Unix(1_767_225_600, 0),
	}
	for range 3 {
		d, err := store.Take(context.Background(), r)
		if err != nil {
			panic(err)
		}
		fmt.Println(d.Allowed, d.Remaining, d.RetryAfter)
	}
	// Output:
	// true 1 0s
	// true 0 0s
	// false 0 1s
}

func ExampleStep() {
	p := &ratelimit.Policy{Algorithm: ratelimit.SlidingLog, Limit: 1, Window: time.Minute}
	now := time.Unix(1_767_225_600, 0)
	state, first := ratelimit.Step(p, ratelimit.State{}, now, 1)
	_, second := ratelimit.Step(p, state, now.Add(time.Minute), 1)
	fmt.Println(first.Allowed, second.Allowed, second.RetryAfter)
	// Output: true false 1µs
}
