package main

import "testing"

// what is wrong with an argument is told in the words of the command line, not in those of the API.
func Test_parameters_of_the_query_are_named_as_flags(t *testing.T) {
	t.Parallel()
	for place, want := range map[string]string{
		"query/format": "--format", "query.onConflict": "--on-conflict", "expectations/0/times/max": "expectations.0.times.max",
	} {
		if got := argument(place); got != want {
			t.Errorf("%s is called %s, want %s", place, got, want)
		}
	}
}
