UPDATE password_resets SET created_by = 'usr_ada' WHERE user_id = 'usr_ada';
