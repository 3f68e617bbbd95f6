INSERT INTO projects (id, slug, name, description, access, config, owners, persist_traffic, require_if_match, origin, version,
    revision, created_at, updated_at)
VALUES ('prj_shop', 'shop', 'Shop', '', 'public', '{"settings":{"trailingSlash":"ignore"}}', '{"settings":"ci"}', 1, 0, '', 2, 7,
    1900000000000000001, 1900000000000000002);

INSERT INTO project_members (project_id, user_id, role, added_at) VALUES ('prj_shop', 'usr_ada', 'owner', 1900000000000000001);

INSERT INTO mocks (id, project_id, name, ord, version, created_at, updated_at, updated_by, owner, edited, origin, document)
VALUES ('mck_one', 'prj_shop', 'get-users', 4, 2, 1900000000000000001, 1900000000000000002, 'usr_ada', 'ci', 0, '',
    '{"name":"get-users","request":"GET /users","response":{"json":{"n":2.50}}}');
