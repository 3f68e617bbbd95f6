UPDATE projects SET documents = '{"pets":{"id":"doc_one","version":2,"text":"e30="}}' WHERE id = 'prj_shop';
