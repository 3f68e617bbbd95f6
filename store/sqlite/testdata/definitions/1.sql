INSERT INTO users (id, email, name, role, password_hash, disabled, epoch, last_seen_at, created_at, updated_at)
VALUES ('usr_ada', 'ada@example.com', 'Ada', 'admin', 'hash', 0, 3, 0, 1900000000000000001, 1900000000000000002);

INSERT INTO sign_ins (id, user_id, current_hash, previous_hash, rotated_at, created_at, last_used_at, auth_time, expires_at,
    revoked_at, ip, user_agent)
VALUES ('sgn_one', 'usr_ada', X'01', X'00', 1900000000000000003, 1900000000000000001, 1900000000000000003, 1900000000000000001,
    1910000000000000000, 0, '192.0.2.1', 'curl/8');
