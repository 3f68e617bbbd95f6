package engine

import "net/http"

// Endpoint returns the path of the mock that a request would most likely meet, as its author wrote it and below the base
// path and the name of the project, so that a shield may count by the endpoint and not by the path, whose ids are many
// (rule RL80). It is empty where no mock has a path of this structure. It looks at nothing but the target.
func (e *Engine) Endpoint(r *http.Request) string {
	own, _ := r.Context().Value(ownProject{}).(string)
	t, ok := e.located(r, own)
	if !ok {
		return ""
	}
	p := e.programs.Load().bySlug[t.slug]
	if p == nil {
		return ""
	}
	var segmentRoom [16]string
	path, err := p.settings.split(t.path, segmentRoom[:0])
	if err != nil {
		return ""
	}
	var leafRoom [4]*leaf
	var best *entry
	for _, l := range p.index.find(&path, leafRoom[:0]) {
		if first := l.all()[0]; best == nil || first.precedence < best.precedence {
			best = first
		}
	}
	if best == nil {
		return ""
	}
	return e.prefix + p.project.Slug + best.mock.Request.Path
}

// IgnoresCase says whether the project that a request is for compares paths without regard to letter case (rule B11), so
// that what stands before the engine may do the same.
func (e *Engine) IgnoresCase(r *http.Request) bool {
	t, ok := parseTarget(rawTarget(r), e.prefix)
	if !ok {
		return false
	}
	p := e.programs.Load().bySlug[t.slug]
	return p != nil && p.settings.ignoreCase
}
