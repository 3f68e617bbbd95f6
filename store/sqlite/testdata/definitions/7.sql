UPDATE projects SET variables = '{"token":{"version":3,"secret":true}}' WHERE id = 'prj_shop';

INSERT INTO collections (project_id, name, next_id, drawn, items) VALUES ('prj_shop', 'posts', 4, 1, X'7B226964223A337D');
