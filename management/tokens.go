package management

import (
	"net/http"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/management/auth"
)

// The bounds of API tokens (rules M-9 and M-41).
const (
	maxTokenName        = 200
	maxTokenProjects    = 100
	maxTokenAddresses   = 100
	defaultTokenLife    = 90 * 24 * time.Hour
	longestTokenLife    = 366 * 24 * time.Hour
	tokenWithoutEnd     = "never"
	warningTokenForever = "the token never expires: whoever gets hold of it can use it until somebody deletes it"
)

// tokenView is an API token as the API shows one (rule M-60).
type tokenView struct {
	ID         string   `json:"id"`
	Kind       string   `json:"kind"`
	Name       string   `json:"name"`
	Prefix     string   `json:"prefix"`
	Scopes     []string `json:"scopes"`
	Projects   []string `json:"projects"`
	AllowedIPs []string `json:"allowedIps"`
	CreatedBy  string   `json:"createdBy"`
	CreatedAt  string   `json:"createdAt"`
	ExpiresAt  *string  `json:"expiresAt"`
	LastUsedAt *string  `json:"lastUsedAt"`
	LastUsedIP *string  `json:"lastUsedIp"`
}

func (s *Server) viewToken(t *mockbase.Token) tokenView {
	view := tokenView{
		ID: t.ID, Kind: t.Kind, Name: t.Name, Prefix: t.Prefix, Scopes: append([]string{}, t.Scopes...), Projects: []string{},
		AllowedIPs: append([]string{}, t.AllowedIPs...), CreatedBy: t.CreatedBy, CreatedAt: timeText(t.CreatedAt),
		ExpiresAt: maybeTime(t.ExpiresAt), LastUsedAt: maybeTime(t.LastUsedAt), LastUsedIP: maybeText(t.LastUsedIP),
	}
	for _, id := range t.Projects {
		view.Projects = append(view.Projects, s.projectName(id))
	}
	return view
}

// listTokens lists the caller's own tokens, those of a project to its owners, and all to an administrator (M-115).
func (s *Server) listTokens(c *call) error {
	p := c.params()
	everybody, project := p.flag("all"), p.text("project")
	l, err := p.listing("-createdAt", "name", "lastUsedAt", "expiresAt")
	if err != nil {
		return err
	}
	shown, err := s.tokenFilter(c, everybody, project)
	if err != nil {
		return err
	}
	all, err := s.Accounts.Tokens(c.ctx())
	if err != nil {
		return err
	}
	views := []tokenView{}
	for _, t := range all {
		if shown(t) && l.finds(t.Name, t.Prefix) {
			views = append(views, s.viewToken(t))
		}
	}
	total := len(views)
	onPage, next := cut(l, views, func(v tokenView) key { return v.key(l.sort) })
	return c.list(l, onPage, total, next)
}

func (v *tokenView) key(sort string) key {
	text := func(t *string) string {
		if t == nil {
			return ""
		}
		return *t
	}
	switch sort {
	case "name":
		return key{Text: v.Name, ID: v.ID}
	case "lastUsedAt":
		return key{Text: text(v.LastUsedAt), ID: v.ID}
	case "expiresAt":
		return key{Text: text(v.ExpiresAt), ID: v.ID}
	default:
		return key{Text: v.CreatedAt, ID: v.ID}
	}
}

// tokenFilter tells which tokens a caller sees in a list.
func (s *Server) tokenFilter(c *call, everybody bool, project string) (func(*mockbase.Token) bool, error) {
	who := c.caller
	switch {
	case everybody && !who.admin():
		return nil, &mockbase.Error{Code: mockbase.CodeForbidden, Message: "only administrators see the tokens of everybody", Hint: "leave all out"}
	case project != "":
		id, err := s.ownedProject(c, project)
		return func(t *mockbase.Token) bool {
			return t.Kind != mockbase.TokenPersonal && slices.Contains(t.Projects, id)
		}, err
	case everybody:
		return func(*mockbase.Token) bool { return true }, nil
	case who.service():
		return func(t *mockbase.Token) bool { return t.ID == who.token.ID }, nil
	}
	return func(t *mockbase.Token) bool { return t.CreatedBy == who.user.ID }, nil
}

// ownedProject finds a project that the caller owns. One that they do not see does not exist (rule M-14).
func (s *Server) ownedProject(c *call, name string) (id string, err error) {
	found, exists := s.Catalog.Project(name)
	id = "prj_none"
	if exists {
		id = found.Project.ID
	}
	stored, err := s.Accounts.ProjectRole(c.ctx(), id, c.caller.user.ID)
	if err != nil {
		return "", err
	}
	role := c.caller.roleIn(id, map[string]mockbase.ProjectRole{id: stored})
	switch {
	case !exists || role == mockbase.RoleNone:
		return "", noSuchProject()
	case role != mockbase.RoleOwner:
		return "", &mockbase.Error{Code: mockbase.CodeForbidden, Message: "this needs the role owner in the project", Hint: "ask an owner of the project"}
	case !c.caller.has(scopeProjectAdmin):
		return "", insufficientScope(scopeProjectAdmin)
	}
	return id, nil
}

// createToken makes a token and shows its secret this once (M-116). It never may do more than its maker.
func (s *Server) createToken(c *call) error {
	now := s.clock()
	made := &mockbase.Token{
		ID: mockbase.NewID(mockbase.PrefixToken, now), Kind: mockbase.TokenPersonal, CreatedBy: c.caller.user.ID, CreatedAt: now,
		ExpiresAt: now.Add(defaultTokenLife), AllowedIPs: []string{},
	}
	if err := c.object(typeJSON, func(f *mockbase.Fields) { readToken(f, made, now) }); err != nil {
		return err
	}
	if err := s.boundToken(c, made); err != nil {
		return err
	}
	secret := auth.NewAPIToken(made.Kind)
	made.Hash, made.Prefix = secret.Hash, secret.Shown()
	view := s.viewToken(made)
	c.noteTarget(made.ID, made.Name, nil, view)
	secretView := struct {
		tokenView

		Token    string   `json:"token"`
		Warnings []string `json:"warnings,omitempty"`
	}{tokenView: view, Token: secret.Text}
	if made.ExpiresAt.IsZero() {
		secretView.Warnings = []string{warningTokenForever}
	}
	answer := created(apiPrefix+"/tokens/"+made.ID, secretView)
	c.foretell(answer)
	if err := s.Accounts.CreateToken(c.ctx(), made, s.settings().MaxTokensPerUser); err != nil {
		return err
	}
	return c.give(answer)
}

// readToken reads the members of a token that its maker sets.
func readToken(f *mockbase.Fields, t *mockbase.Token, now time.Time) {
	if f.Line("name", &t.Name) && (t.Name == "" || utf8.RuneCountInString(t.Name) > maxTokenName) {
		f.Fault("name", mockbase.FieldLimit, "must have 1 to %d characters", maxTokenName)
	}
	kinds := []string{mockbase.TokenPersonal, mockbase.TokenService, mockbase.TokenPublic}
	if f.Text("kind", &t.Kind) && !slices.Contains(kinds, t.Kind) {
		f.Fault("kind", mockbase.FieldEnum, "must be personal, service or public, not %s", shown(t.Kind))
	}
	f.Texts("scopes", &t.Scopes)
	f.Texts("projects", &t.Projects)
	if f.Texts("allowedIps", &t.AllowedIPs) {
		readAddresses(f, t.AllowedIPs)
	}
	readScopes(f, t)
	readExpiry(f, t, now)
	f.Required("name", "projects")
	if t.Kind != mockbase.TokenPublic {
		f.Required("scopes")
	}
	f.ReadOnly("id", "prefix", "createdBy", "createdAt", "expiresAt", "lastUsedAt", "lastUsedIp")
}

func readScopes(f *mockbase.Fields, t *mockbase.Token) {
	known := scopeRoles()
	for _, name := range t.Scopes {
		if _, ok := known[scope(name)]; !ok {
			f.Fault("scopes", mockbase.FieldEnum, "there is no scope %s", shown(name))
		}
	}
	switch {
	case t.Kind == mockbase.TokenPublic && len(t.Scopes) > 0:
		f.Fault("scopes", mockbase.FieldConflict, "a public token calls mocks and has no scopes")
	case t.Kind == mockbase.TokenService && slices.Contains(t.Scopes, string(scopeAdmin)):
		f.Fault("scopes", mockbase.FieldConflict, "only a personal token of an administrator has the scope admin")
	case f.Has("scopes") && t.Kind != mockbase.TokenPublic && len(t.Scopes) == 0:
		f.Fault("scopes", mockbase.FieldRequired, "name one scope at least")
	}
	checkTokenProjects(f, t)
}

func checkTokenProjects(f *mockbase.Fields, t *mockbase.Token) {
	everywhere := slices.Contains(t.Projects, mockbase.AllProjects)
	switch {
	case len(t.Projects) > maxTokenProjects:
		f.Fault("projects", mockbase.FieldLimit, "must have at most %d items", maxTokenProjects)
	case t.Kind != mockbase.TokenPersonal && everywhere:
		f.Fault("projects", mockbase.FieldConflict, "only a personal token is for all projects")
	case everywhere && len(t.Projects) > 1:
		f.Fault("projects", mockbase.FieldConflict, "the star stands alone")
	case t.Kind != mockbase.TokenPersonal && f.Has("projects") && len(t.Projects) == 0:
		f.Fault("projects", mockbase.FieldRequired, "name one project at least")
	}
}

// readAddresses checks the networks that a token may be used from, and writes them in their plain form.
func readAddresses(f *mockbase.Fields, list []string) {
	if len(list) > maxTokenAddresses {
		f.Fault("allowedIps", mockbase.FieldLimit, "must have at most %d items", maxTokenAddresses)
	}
	for i, text := range list {
		network, err := readNetwork(text)
		if err != nil {
			f.Fault("allowedIps", mockbase.FieldPattern, "%s is no address and no network like 192.0.2.0/24", shown(text))
			continue
		}
		list[i] = network.String()
	}
}

// readExpiry reads how long a token lives: a duration, whole seconds, or never.
func readExpiry(f *mockbase.Fields, t *mockbase.Token, now time.Time) {
	n := f.Node("expiresIn")
	if n == nil || n.Kind == mockbase.NodeNull {
		return
	}
	var life time.Duration
	var err error
	switch {
	case n.Kind == mockbase.NodeText && n.Text == tokenWithoutEnd:
		t.ExpiresAt = time.Time{}
		return
	case n.Kind == mockbase.NodeText:
		life, err = mockbase.ParseDuration(n.Text)
	case n.Kind == mockbase.NodeNumber:
		var seconds int64
		seconds, err = strconv.ParseInt(n.Text, 10, 32)
		life = time.Duration(seconds) * time.Second
	default:
		f.Fault("expiresIn", mockbase.FieldType, "must be a duration, whole seconds or never")
		return
	}
	switch {
	case err != nil:
		f.Fault("expiresIn", mockbase.FieldPattern, "must be a duration like 90d, whole seconds or never, not %s", shown(n.Text))
	case life < time.Second || life > longestTokenLife:
		f.Fault("expiresIn", mockbase.FieldRange, "must be from 1s to 366d")
	default:
		t.ExpiresAt = now.Add(life)
	}
}

// boundToken writes the token's projects as ids, and refuses what goes beyond the rights of its maker.
func (s *Server) boundToken(c *call, t *mockbase.Token) error {
	if slices.Contains(t.Scopes, string(scopeAdmin)) && !c.caller.admin() {
		return &mockbase.Error{Code: mockbase.CodeForbidden, Message: "only an administrator's token has the scope admin", Hint: "leave it out"}
	}
	need := mockbase.RoleViewer
	if t.Kind != mockbase.TokenPersonal {
		need = mockbase.RoleOwner
	}
	for _, name := range t.Scopes {
		if role := scopeRoles()[scope(name)]; rank(role) > rank(need) {
			need = role
		}
	}
	roles, err := s.Accounts.Memberships(c.ctx(), c.caller.user.ID)
	if err != nil {
		return err
	}
	for i, name := range t.Projects {
		if name == mockbase.AllProjects {
			continue
		}
		found, exists := s.Catalog.Project(name)
		if !exists || c.caller.roleIn(found.Project.ID, roles) == mockbase.RoleNone {
			return mockbase.Invalid([]mockbase.FieldError{{
				Pointer: "#/projects/" + strconv.Itoa(i), Code: mockbase.FieldReference, Detail: "there is no project " + shown(name) + ", or you have no role in it",
			}})
		}
		if role := c.caller.roleIn(found.Project.ID, roles); rank(role) < rank(need) {
			return &mockbase.Error{
				Code:    mockbase.CodeForbidden,
				Message: "such a token needs the role " + string(need) + " in the project " + found.Project.Slug + ", and you are " + string(role),
				Hint:    "ask for fewer scopes, or ask an owner of the project",
			}
		}
		t.Projects[i] = found.Project.ID
	}
	return nil
}

// getToken shows a token to its owner and to administrators (M-117).
func (s *Server) getToken(c *call) error {
	found, err := s.tokenFor(c, func(t *mockbase.Token) (bool, error) { return s.ownsToken(c, t), nil })
	if err != nil {
		return err
	}
	return c.json(http.StatusOK, s.viewToken(found))
}

// deleteToken deletes a token: its owner may, an owner of a project of it, an administrator, and it itself (M-118).
func (s *Server) deleteToken(c *call) error {
	found, err := s.tokenFor(c, func(t *mockbase.Token) (bool, error) {
		if s.ownsToken(c, t) {
			return true, nil
		}
		return s.ownsProjectOf(c, t)
	})
	if err != nil {
		return err
	}
	c.noteTarget(found.ID, found.Name, s.viewToken(found), nil)
	if err := s.Accounts.DeleteToken(c.ctx(), found.ID); err != nil {
		return err
	}
	return c.nothing()
}

// ownsToken tells whether the caller made the token, is the token, or administers the server. A token without the scope
// for it has no say over other tokens of its owner.
func (*Server) ownsToken(c *call, t *mockbase.Token) bool {
	who := c.caller
	switch {
	case who.admin():
		return true
	case who.token != nil:
		return who.token.ID == t.ID
	default:
		return t.CreatedBy == who.user.ID
	}
}

// ownsProjectOf tells whether the caller owns a project that a token, which is nobody's own, reaches.
func (s *Server) ownsProjectOf(c *call, t *mockbase.Token) (bool, error) {
	if t.Kind == mockbase.TokenPersonal || len(t.Projects) == 0 || !c.caller.has(scopeProjectAdmin) {
		return false, nil
	}
	roles, err := s.Accounts.Memberships(c.ctx(), c.caller.user.ID)
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(t.Projects, func(id string) bool { return c.caller.roleIn(id, roles) == mockbase.RoleOwner }), nil
}

// tokenFor finds the token that the path names. One that the caller has nothing to do with does not exist for them.
func (s *Server) tokenFor(c *call, may func(*mockbase.Token) (bool, error)) (*mockbase.Token, error) {
	id, err := pathParam(c, "id")
	if err != nil {
		return nil, err
	}
	found, err := s.Accounts.TokenByID(c.ctx(), id)
	if err == nil {
		allowed, failed := may(found)
		if failed != nil || allowed {
			return found, failed
		}
	}
	if err != nil && mockbase.ErrorCode(err) != mockbase.CodeNotFound {
		return nil, err
	}
	return nil, mockbase.Errorf(mockbase.CodeNotFound, "there is no such token")
}
