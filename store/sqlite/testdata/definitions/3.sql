INSERT INTO rotations (sign_in_id, hash, rotated_at) VALUES ('sgn_one', X'00', 1900000000000000003);
