// Package auth proves who calls the management plane: signing keys and access tokens, refresh tokens, passwords and the
// code of the first set-up.
//
// # Access tokens
//
// A [KeyRing] signs access tokens with its active key and checks them with the key that the token names. The algorithm
// belongs to that key and never to the token's header (rule M-32). A token holds no role: rights are looked up at each
// request.
//
// # Refresh tokens
//
// A [Refresh] token is 256 random bits with the sign-in it belongs to and a keyed tag. The successor of a token is
// derived from it and a secret of the key ring, so that a repeated refresh gives the same successor in every tab and
// replica although nothing but a hash is stored (rule M-34).
//
// # Passwords
//
// A [Hasher] keeps passwords as argon2id strings and bounds the memory that hashing takes (rule M-36).
package auth
