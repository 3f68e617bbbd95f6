INSERT INTO settings (name, version, document, updated_at, updated_by) VALUES ('shield', 5, '{"ipv6Prefix":56}', 1900000000000000004, 'usr_ada');
INSERT INTO bans (id, subject_type, subject_value, subject_key, reason, created_by, created_at, expires_at)
VALUES ('ban_one', 'ip', '192.0.2.7', '192.0.2.7', 'scraping', 'ada', 1900000000000000005, 0);
