UPDATE projects SET recording = '{"raw":true}' WHERE id = 'prj_shop';
