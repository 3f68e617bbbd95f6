// Package federation signs people in by an OpenID Connect provider: it sends a browser there, and makes of what the browser
// brings back an identity that the provider vouches for (rule M-43).
//
// # The way
//
// [Provider.Begin] gives the address that the browser is sent to, and what the browser keeps meanwhile, sealed: the state, the
// nonce and the verifier of PKCE (RFC 7636). [Provider.Finish] takes both back, redeems the code and checks the ID token:
// signature by the provider's published keys, issuer, audience, times, nonce (OpenID Connect Core 1.0, section 3.1.3.7).
// Nothing is kept in the server, so that any replica can finish what another one began.
//
// # The provider's document
//
// It is read when it is first needed and kept. A provider that is out of reach fails a sign-in, never the start of the server.
package federation
