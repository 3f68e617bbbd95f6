INSERT INTO identities (issuer, subject, user_id, created_at) VALUES ('https://idp.example.com', '42', 'usr_ada', 1900000000000000004);
