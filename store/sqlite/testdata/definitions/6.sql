INSERT INTO mock_versions (mock_id, version, project_id, name, at, by, owner, edited, document)
VALUES ('mck_one', 2, 'prj_shop', 'get-users', 1900000000000000002, 'usr_ada', 'ci', 0,
    '{"name":"get-users","request":"GET /users","response":{"json":{"n":2.50}}}');

INSERT INTO mock_trash (id, project_id, name, ord, version, created_at, updated_at, updated_by, owner, edited, deleted_at, deleted_by, source,
    expires_at, document)
VALUES ('mck_gone', 'prj_shop', 'gone', 5, 1, 1900000000000000001, 1900000000000000001, 'usr_ada', '', 0, 1900000000000000007, 'usr_ada', '',
    1910000000000000000, '{"name":"gone","request":"GET /gone","response":{}}');
