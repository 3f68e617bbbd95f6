package management

import (
	"net/http"
	"slices"
)

// accountRoutes are those by which people look after their own account. The parameters of lists are list.
func accountRoutes(list []string) []route {
	const (
		me          = apiPrefix + "/auth/me"
		signIns     = apiPrefix + "/auth/sessions"
		invitations = apiPrefix + "/auth/invitations"
		tokens      = apiPrefix + "/tokens"
	)
	return []route{
		{id: "M-43", method: http.MethodGet, path: federationStart, access: accessAnyone, operation: "startFederatedSignIn", handle: (*Server).startFederated, query: []string{"next", "fresh"}, secret: true},
		{id: "M-43", method: http.MethodGet, path: federationReturn, access: accessAnyone, operation: "finishFederatedSignIn", handle: (*Server).finishFederated, query: []string{"code", "state", "iss", "error", "error_description"}, foreignQuery: true, secret: true, signsIn: true},
		{id: "M-105", method: http.MethodPost, path: apiPrefix + "/auth/logout-all", access: accessUser, operation: "logoutEverywhere", handle: (*Server).logoutEverywhere},
		{id: "M-106", method: http.MethodPost, path: apiPrefix + "/auth/reauthenticate", access: accessUser, operation: "reauthenticate", handle: (*Server).reauthenticate, secret: true},
		{id: "M-108", method: http.MethodPatch, path: me, access: accessUser, operation: "updateMe", handle: (*Server).updateMe},
		{id: "M-109", method: http.MethodPut, path: apiPrefix + "/auth/password", access: accessUser, fresh: true, operation: "changePassword", handle: (*Server).changePassword, secret: true},
		{id: "M-110", method: http.MethodPost, path: apiPrefix + "/auth/password-reset", access: accessAnyone, operation: "resetPassword", handle: (*Server).resetPassword, secret: true},
		{id: "M-111", method: http.MethodGet, path: signIns, access: accessUser, operation: "listSignIns", handle: (*Server).listSignIns, query: slices.Clone(list)},
		{id: "M-112", method: http.MethodDelete, path: signIns + "/{id}", access: accessUser, operation: "endSignIn", handle: (*Server).endSignIn},
		{id: "M-113", method: http.MethodPost, path: invitations + "/inspect", access: accessAnyone, operation: "inspectInvitation", handle: (*Server).inspectInvitation, secret: true},
		{id: "M-114", method: http.MethodPost, path: invitations + "/accept", access: accessAnyone, operation: "acceptInvitation", handle: (*Server).acceptInvitation, secret: true},
		{id: "M-115", method: http.MethodGet, path: tokens, access: accessAny, scope: scopeAny, operation: "listTokens", handle: (*Server).listTokens, query: append(slices.Clone(list), "project", "all")},
		{id: "M-116", method: http.MethodPost, path: tokens, access: accessUser, fresh: true, operation: "createToken", handle: (*Server).createToken, creates: true},
		{id: "M-117", method: http.MethodGet, path: tokens + "/{id}", access: accessAny, scope: scopeAny, operation: "getToken", handle: (*Server).getToken},
		{id: "M-118", method: http.MethodDelete, path: tokens + "/{id}", access: accessAny, scope: scopeAny, operation: "deleteToken", handle: (*Server).deleteToken},
	}
}

// peopleRoutes are those by which administrators and owners look after others, and what administrators see of the server.
func peopleRoutes(list []string) []route {
	const (
		users       = apiPrefix + "/users"
		user        = users + "/{user}"
		invitations = apiPrefix + "/invitations"
		project     = apiPrefix + "/projects/{project}"
		members     = project + "/members"
		keys        = apiPrefix + "/admin/keys"
	)
	filters := auditFilters()
	return []route{
		{id: "M-119", method: http.MethodGet, path: users, access: accessAdmin, operation: "listUsers", handle: (*Server).listUsers, query: append(slices.Clone(list), "role", "disabled")},
		{id: "M-120", method: http.MethodPost, path: users, access: accessAdmin, operation: "createUser", handle: (*Server).createUser, creates: true},
		{id: "M-121", method: http.MethodGet, path: user, access: accessAdmin, operation: "getUser", handle: (*Server).getUser},
		{id: "M-122", method: http.MethodPatch, path: user, access: accessAdmin, operation: "updateUser", handle: (*Server).updateUser},
		{id: "M-123", method: http.MethodDelete, path: user, access: accessAdmin, operation: "deleteUser", handle: (*Server).deleteUser},
		{id: "M-124", method: http.MethodPost, path: user + "/sign-out", access: accessAdmin, operation: "signUserOut", handle: (*Server).signUserOut},
		{id: "M-125", method: http.MethodPost, path: user + "/password-reset", access: accessAdmin, operation: "createPasswordReset", handle: (*Server).createPasswordReset, creates: true},
		{id: "M-126", method: http.MethodGet, path: invitations, access: accessAny, scope: scopeAdmin, operation: "listInvitations", handle: (*Server).listInvitations, query: slices.Clone(list)},
		{id: "M-127", method: http.MethodPost, path: invitations, access: accessAny, scope: scopeAdmin, operation: "createInvitation", handle: (*Server).createInvitation, creates: true},
		{id: "M-128", method: http.MethodDelete, path: invitations + "/{id}", access: accessAny, scope: scopeAdmin, operation: "deleteInvitation", handle: (*Server).deleteInvitation},

		{id: "M-135", method: http.MethodGet, path: members, access: accessViewer, scope: scopeProjectAdmin, operation: "listMembers", handle: (*Server).listMembers, query: slices.Clone(list)},
		{id: "M-136", method: http.MethodPut, path: members + "/{user}", access: accessOwner, scope: scopeProjectAdmin, operation: "putMember", handle: (*Server).putMember},
		{id: "M-137", method: http.MethodDelete, path: members + "/{user}", access: accessViewer, scope: scopeProjectAdmin, operation: "deleteMember", handle: (*Server).deleteMember},

		{id: "M-229", method: http.MethodGet, path: keys, access: accessAdmin, operation: "listKeys", handle: (*Server).listKeys, query: slices.Clone(list)},
		{id: "M-230", method: http.MethodPost, path: keys + "/rotate", access: accessAdmin, fresh: true, operation: "rotateKeys", handle: (*Server).rotateKeys},
		{id: "M-231", method: http.MethodGet, path: apiPrefix + "/admin/audit", access: accessAdmin, operation: "listAudit", handle: (*Server).listAudit, query: filters, offers: []string{typeJSON, typeNDJSON}},
		{id: "M-239", method: http.MethodGet, path: project + "/audit", access: accessOwner, scope: scopeProjectAdmin, operation: "listProjectAudit", handle: (*Server).listAudit, query: filters, offers: []string{typeJSON, typeNDJSON}},
	}
}
