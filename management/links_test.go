package management_test

import (
	"slices"
	"testing"

	"github.com/mockbase/mockbase"
)

// second is an administrator beside the first.
const second = "second"

// promote makes a user an administrator whose access tokens go on.
func (w *world) promote(name string) {
	w.t.Helper()
	_, err := w.people.ChangeUser(w.t.Context(), mockbase.UserChange{ID: w.users[name].ID, Change: func(u *mockbase.User) error {
		u.Role = mockbase.InstanceAdmin
		return nil
	}})
	if err != nil {
		w.t.Fatal(err)
	}
}

// link asks for a link and returns its secret.
func (w *world) link(path, as, body string) string {
	w.t.Helper()
	var made struct{ URL string }
	w.do("POST", path, as, body).want(201).into(&made)
	return linkToken(w.t, made.URL)
}

func (w *world) accept(token string) *reply {
	w.t.Helper()
	return w.do("POST", "/auth/invitations/accept", guest, `{"token":"`+token+`","name":"N","password":"`+newPassword+`"}`)
}

func (w *world) useReset(token string) *reply {
	w.t.Helper()
	return w.do("POST", "/auth/password-reset", guest, `{"token":"`+token+`","newPassword":"`+newPassword+`"}`)
}

// M-31, M-39: rights that an administrator has lost are not in the links that they made before, and do not come back with the
// rights either.
func TestM39_links_end_with_the_rights_of_the_administrator_who_made_them(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(w *world){
		"demoted":  func(w *world) { w.do("PATCH", "/users/second@example.com", admin, `{"role":"member"}`).want(200) },
		"disabled": func(w *world) { w.do("PATCH", "/users/second@example.com", admin, `{"disabled":true}`).want(200) },
		"deleted":  func(w *world) { w.do("DELETE", "/users/second@example.com", admin, "").want(204) },
		"demoted and promoted again": func(w *world) {
			w.do("PATCH", "/users/second@example.com", admin, `{"role":"member"}`).want(200)
			w.do("PATCH", "/users/second@example.com", admin, `{"role":"admin"}`).want(200)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.addUser(second)
			w.promote(second)
			invitation := w.link("/invitations", second, `{"email":"n@example.com","role":"admin"}`)
			reset := w.link("/users/admin@example.com/password-reset", second, "")
			kept := w.link("/invitations", admin, `{"email":"k@example.com","role":"member"}`)
			end(w)
			w.do("POST", "/auth/invitations/inspect", guest, `{"token":"`+invitation+`"}`).want(401, mockbase.CodeInvalidCredentials)
			w.accept(invitation).want(401, mockbase.CodeInvalidCredentials)
			w.useReset(reset).want(401, mockbase.CodeInvalidCredentials)
			if left := w.do("GET", "/invitations", admin, "").want(200).names("email"); !slices.Equal(left, []string{"k@example.com"}) {
				t.Errorf("invitations %v", left)
			}
			w.accept(kept).want(201)
			for _, action := range []string{"endInvitation", "endPasswordReset"} {
				told := w.do("GET", "/admin/audit?action="+action, admin, "").want(200).names("id")
				if len(told) != 1 {
					t.Errorf("%d entries of %s", len(told), action)
				}
			}
		})
	}
}

func TestM127_invitations_end_with_the_project_role_of_the_owner_who_made_them(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(w *world){
		"taken out": func(w *world) { w.do("DELETE", "/projects/shop/members/editor@example.com", owner, "").want(204) },
		"editor": func(w *world) {
			w.do("PUT", "/projects/shop/members/editor@example.com", owner, `{"role":"editor"}`).want(200)
		},
		"disabled":   func(w *world) { w.do("PATCH", "/users/editor@example.com", admin, `{"disabled":true}`).want(200) },
		"no project": func(w *world) { w.do("DELETE", "/projects/shop?confirm=shop", owner, "").want(204) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.do("PUT", "/projects/shop/members/editor@example.com", owner, `{"role":"owner"}`).want(200)
			token := w.link("/invitations", editor, `{"email":"n@example.com","role":"member","projects":[{"project":"shop","role":"owner"}]}`)
			end(w)
			w.accept(token).want(401, mockbase.CodeInvalidCredentials)
		})
	}
}

// M-42: a reset link is for one account with the address and the password that it had.
func TestM42_a_reset_link_ends_with_the_address_the_password_or_the_account(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(w *world){
		"address": func(w *world) { w.do("PATCH", "/auth/me", editor, `{"email":"e2@example.com"}`).want(200) },
		"password": func(w *world) {
			w.do("PUT", "/auth/password", editor, `{"currentPassword":"`+password+`","newPassword":"`+newPassword+`x"}`).want(204)
		},
		"disabled": func(w *world) { w.do("PATCH", "/users/editor@example.com", admin, `{"disabled":true}`).want(200) },
		"disabled and enabled again": func(w *world) {
			w.do("PATCH", "/users/editor@example.com", admin, `{"disabled":true}`).want(200)
			w.do("PATCH", "/users/editor@example.com", admin, `{"disabled":false}`).want(200)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			reset := w.link("/users/editor@example.com/password-reset", admin, "")
			w.do("PATCH", "/auth/me", editor, `{"name":"Ed"}`).want(200)
			end(w)
			w.useReset(reset).want(401, mockbase.CodeInvalidCredentials)
		})
	}
}
