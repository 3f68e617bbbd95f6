// Package web serves the first page of a server: what runs here and where to go.
//
// The page is one document without scripts. Its policy lets it load nothing, not even from here, but the style and the
// icon it carries.
package web

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"net/http"
	"strings"
)

//go:embed page.html
var pageSource string

//go:embed page.css
var styleSource string

// Options say what the page shows.
type Options struct {
	// InstanceName tells this server from others; "" shows none.
	InstanceName string
	// Version is the version of the binary.
	Version string
	// PublicURL is where clients reach the management API, MocksURL where they reach the mocks: scheme, host and port
	// without a slash at the end. Empty means as the request came.
	PublicURL, MocksURL string
	// BasePath is put behind both: the path that a proxy has in front of all of ours.
	BasePath string
	// Facts is asked at each view for what changes while the server runs.
	Facts func() Facts
}

// Facts are what the page says of the server's state.
type Facts struct {
	// NeedsAdmin tells that nobody has an account yet.
	NeedsAdmin bool
	// FileMode tells that the mocks come from files and are changed there.
	FileMode bool
	// Projects and Mocks count what is served.
	Projects, Mocks int
	// Example is the path of a mock that answers GET, such as "/m/demo/hello", or "" when there is none.
	Example string
}

// Page is the first page, and those that links to accounts lead to. It answers GET and HEAD of /, /setup, /invite and /reset.
type Page struct {
	options Options
	page    *template.Template
	link    *template.Template
	links   map[string]link
	policy  string
}

var _ http.Handler = (*Page)(nil)

// New makes the page.
func New(o Options) (*Page, error) {
	page, err := template.New("page").Funcs(template.FuncMap{"plural": plural}).Parse(pageSource)
	if err != nil {
		return nil, fmt.Errorf("parse page: %w", err)
	}
	linked, err := template.New("link").Parse(linkSource)
	if err != nil {
		return nil, fmt.Errorf("parse page: %w", err)
	}
	if o.Facts == nil {
		o.Facts = func() Facts { return Facts{} }
	}
	digest := sha256.Sum256([]byte(styleSource))
	policy := "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(digest[:]) +
		"'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
	return &Page{options: o, page: page, link: linked, links: links(), policy: policy}, nil
}

// view is what the template is given.
type view struct {
	Options
	Facts
	Style template.CSS
}

// ServeHTTP writes the page (rule M-249). Its headers are those of rule M-18, with a policy of its own.
func (p *Page) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	at, isLink := p.links[r.URL.Path]
	if r.URL.Path != "/" && !isLink {
		w.WriteHeader(http.StatusNotFound) // whoever serves the page has words for it
		return
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "the page answers GET and HEAD", http.StatusMethodNotAllowed)
		return
	}
	o := p.options
	o.PublicURL, o.MocksURL = orOrigin(o.PublicURL, r)+o.BasePath, orOrigin(o.MocksURL, r)+o.BasePath
	style := template.CSS(styleSource) //nolint:gosec // the style is ours
	if isLink {
		p.write(w, r, p.link, linkView{at, o, style})
		return
	}
	p.write(w, r, p.page, view{Options: o, Facts: p.options.Facts(), Style: style})
}

// Links is the handler of those pages alone that links to accounts lead to: /setup, /invite and /reset.
func (p *Page) Links() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/" {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		p.ServeHTTP(w, r)
	})
}

// write answers with a page.
func (p *Page) write(w http.ResponseWriter, r *http.Request, source *template.Template, v any) {
	var page bytes.Buffer
	if err := source.Execute(&page, v); err != nil {
		http.Error(w, "the page cannot be shown", http.StatusInternalServerError)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", p.policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusOK)
	if r.Method == http.MethodGet {
		w.Write(page.Bytes())
	}
}

// orOrigin returns base, or the origin under which the request came.
func orOrigin(base string, r *http.Request) string {
	if base != "" {
		return strings.TrimSuffix(base, "/")
	}
	if r.TLS != nil {
		return "https://" + r.Host
	}
	return "http://" + r.Host
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
