INSERT INTO invitations (id, email, role, grants, hash, created_by, created_at, expires_at, accepted_at)
VALUES ('inv_one', 'bob@example.com', 'member', '[{"project":"prj_shop","role":"viewer"}]', X'02', 'usr_ada', 1900000000000000006, 1910000000000000000, 0);

INSERT INTO password_resets (user_id, hash, created_at, expires_at) VALUES ('usr_ada', X'03', 1900000000000000006, 1910000000000000000);

INSERT INTO tokens (id, kind, name, prefix, hash, scopes, projects, allowed_ips, created_by, created_at, expires_at, last_used_at, last_used_ip)
VALUES ('tok_one', 'service', 'ci', 'mb_svc_abcde', X'04', '["mocks:read"]', '["prj_shop"]', '[]', 'usr_ada', 1900000000000000006, 0, 0, '');

INSERT INTO audit (id, at, actor_type, actor_id, actor_label, token_prefix, action, target_type, target_id, target_name, target_project, outcome, ip,
    user_agent, request_id, before_state, after_state)
VALUES ('aud_one', 1900000000000000006, 'user', 'usr_ada', 'ada@example.com', '', 'createMock', 'mock', 'mck_one', 'get-users', 'prj_shop', 'success',
    '192.0.2.1', 'curl/8', 'req_one', '', '{"name":"get-users"}');

INSERT INTO replays (caller, method, path, key, digest, at, status, media_type, header, size, body)
VALUES ('usr_ada', 'POST', '/api/v1/projects', 'k', X'05', 1900000000000000006, 201, 'application/json', '{}', 2, X'7B7D');
