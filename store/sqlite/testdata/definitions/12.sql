INSERT INTO audit VALUES (91, 'aud_failed', 1900000000000000007, 'user', 'usr_ada', 'ada@example.com', '', 'deleteBackup', 'backup', 'bkp_one', '', '',
    'success', '192.0.2.1', 'curl/8', 'req_failed', '', '');
INSERT INTO audit_failures VALUES ('aud_failed');
