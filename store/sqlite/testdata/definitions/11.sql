INSERT INTO ban_notes (rule, subject_key, lifted, begins_at, ends_at, repeats) VALUES ('login-ban-1', '198.51.100.7', 0, 1900000000000000005, 1900000000000000006, 2);
