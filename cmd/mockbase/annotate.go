package main

import (
	"encoding/json"
	"strconv"
	"strings"
)

// annotate writes what failed as workflow commands, which the pages of a pull request show beside the lines of the mocks that
// came from files (rule C-43).
func (v *judged) annotate(r *remote) error {
	places, err := r.placesOfMocks()
	if err != nil {
		return err
	}
	for i := range v.Checks {
		k := &v.Checks[i]
		if k.word() == "ok" {
			continue
		}
		text := "expected " + k.Expected + ", got " + k.Actual
		if k.Detail != "" {
			text += ": " + k.Detail
		}
		printf(r.Out, "::error %stitle=%s::%s\n", places.of(k.Name), githubProperty(k.Name), githubText(text))
	}
	if v.Unmatched.Count > 0 {
		var samples []string
		for _, s := range v.Unmatched.Samples {
			samples = append(samples, s.Method+" "+s.Path)
		}
		printf(r.Out, "::warning title=unmatched::%s\n", githubText(count(v.Unmatched.Count, "request")+" answered by no mock: "+strings.Join(samples, ", ")))
	}
	printf(r.Out, "%s: %s\n", v.Verdict, count(len(v.Checks), "check"))
	return nil
}

// places are the lines of mocks by their names, as properties of a workflow command.
type places map[string]string

// placesOfMocks asks where the mocks of the project come from.
func (r *remote) placesOfMocks() (places, error) {
	path, err := r.below("mocks")
	if err != nil {
		return nil, err
	}
	found := places{}
	return found, r.List(r.ctx, path, nil, 0, func(item json.RawMessage) error {
		var m struct {
			Name     string `json:"name"`
			Source   string `json:"source"`
			ReadOnly bool   `json:"readOnly"`
		}
		if err := json.Unmarshal(item, &m); err != nil {
			return err
		}
		at := strings.LastIndexByte(m.Source, ':')
		if !m.ReadOnly || at < 0 {
			return nil
		}
		if _, err := strconv.Atoi(m.Source[at+1:]); err == nil {
			found[m.Name] = "file=" + githubProperty(m.Source[:at]) + ",line=" + m.Source[at+1:] + ","
		}
		return nil
	})
}

// of is the place of the mock that a check is about. A check of a mock's calls is called like it; others say what they are
// about around its name.
func (p places) of(check string) string {
	name := strings.TrimSuffix(check, " limited")
	if rest, ok := strings.CutPrefix(name, "backoff of "); ok {
		name, _, _ = strings.Cut(rest, ":")
	}
	return p[name]
}

// githubProperty escapes a value beside others.
func githubProperty(s string) string {
	return strings.NewReplacer(":", "%3A", ",", "%2C").Replace(githubText(s))
}
