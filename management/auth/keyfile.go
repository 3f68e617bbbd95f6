package auth

import (
	"crypto/ed25519"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// KeyRingFile is the name of the one file of a key ring; one file, so that a rotation is one atomic rename.
// KeyRingFile is the name of the file that a key ring keeps its keys in.
const KeyRingFile = "keyring.json"

// The rights of the key ring's directory and file (rule M-33).
const (
	dirMode  fs.FileMode = 0o700
	fileMode fs.FileMode = 0o600
)

// storedRing is the file's content.
type storedRing struct {
	Instance string      `json:"instance"`
	Secret   []byte      `json:"secret"`
	Keys     []storedKey `json:"keys"`
}

// storedKey holds a key as PEM: PKCS #8 while it signs or will sign, its public half alone once it is retired.
type storedKey struct {
	ID        string    `json:"id"`
	Algorithm string    `json:"algorithm"`
	State     KeyState  `json:"state"`
	CreatedAt time.Time `json:"createdAt"`
	RetiresAt time.Time `json:"retiresAt,omitzero"`
	PEM       string    `json:"pem"`
}

// load reads the ring's file and tells whether there was one.
func (k *KeyRing) load() (bool, error) {
	if k.dir == "" {
		return false, nil
	}
	if err := os.MkdirAll(k.dir, dirMode); err != nil {
		return false, fmt.Errorf("make key directory: %w", err)
	}
	if err := narrow(k.dir, dirMode); err != nil {
		return false, err
	}
	name := filepath.Join(k.dir, KeyRingFile)
	text, err := os.ReadFile(name) //nolint:gosec // the operator chose the directory
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("read keys: %w", err)
	}
	if err := narrow(name, fileMode); err != nil {
		return false, err
	}
	if err := k.decode(text); err != nil {
		return false, fmt.Errorf("read keys %s: %w", name, err)
	}
	return true, nil
}

// narrow takes rights away that name has beyond mode.
func narrow(name string, mode fs.FileMode) error {
	info, err := os.Stat(name)
	if err != nil {
		return fmt.Errorf("look at key storage: %w", err)
	}
	if info.Mode().Perm()&^mode == 0 {
		return nil
	}
	if err := os.Chmod(name, mode); err != nil {
		return fmt.Errorf("keep keys from other users (fix: chmod %o %s): %w", mode, name, err)
	}
	return nil
}

var (
	errNoKeys   = errors.New("holds no active and next key")
	errNoSecret = errors.New("holds no instance id or secret")
	errBadKey   = errors.New("holds a key that is not Ed25519")
)

func (k *KeyRing) decode(text []byte) error {
	var stored storedRing
	if err := json.Unmarshal(text, &stored); err != nil {
		return fmt.Errorf("decode JSON: %w", err)
	}
	if stored.Instance == "" || len(stored.Secret) != secretSize {
		return errNoSecret
	}
	if len(stored.Keys) < 2 || stored.Keys[0].State != KeyActive || stored.Keys[1].State != KeyNext {
		return errNoKeys
	}
	for _, s := range stored.Keys {
		key, err := s.key()
		if err != nil {
			return fmt.Errorf("key %s: %w", s.ID, err)
		}
		k.keys = append(k.keys, key)
	}
	k.instance, k.secret = stored.Instance, stored.Secret
	return nil
}

func (s storedKey) key() (*signingKey, error) {
	about := Key{ID: s.ID, Algorithm: s.Algorithm, State: s.State, CreatedAt: s.CreatedAt, RetiresAt: s.RetiresAt}
	block, _ := pem.Decode([]byte(s.PEM))
	if block == nil || s.Algorithm != algorithm {
		return nil, errBadKey
	}
	if s.State == KeyRetired {
		parsed, err := x509.ParsePKIXPublicKey(block.Bytes)
		public, ok := parsed.(ed25519.PublicKey)
		if err != nil || !ok {
			return nil, errBadKey
		}
		return &signingKey{Key: about, public: public}, nil
	}
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	private, ok := parsed.(ed25519.PrivateKey)
	if err != nil || !ok {
		return nil, errBadKey
	}
	public, ok := private.Public().(ed25519.PublicKey)
	if !ok {
		return nil, errBadKey
	}
	return &signingKey{Key: about, public: public, private: private}, nil
}

func (s *signingKey) stored() (storedKey, error) {
	block := &pem.Block{Type: "PRIVATE KEY"}
	var err error
	if s.private == nil {
		block.Type = "PUBLIC KEY"
		block.Bytes, err = x509.MarshalPKIXPublicKey(s.public)
	} else {
		block.Bytes, err = x509.MarshalPKCS8PrivateKey(s.private)
	}
	if err != nil {
		return storedKey{}, fmt.Errorf("encode key %s: %w", s.ID, err)
	}
	return storedKey{
		ID: s.ID, Algorithm: s.Algorithm, State: s.State, CreatedAt: s.CreatedAt, RetiresAt: s.RetiresAt,
		PEM: string(pem.EncodeToMemory(block)),
	}, nil
}

// save writes the ring by rename, so that a crash leaves the old file or the new one.
func (k *KeyRing) save() error {
	if k.dir == "" {
		return nil
	}
	ring := storedRing{Instance: k.instance, Secret: k.secret}
	for _, key := range k.keys {
		s, err := key.stored()
		if err != nil {
			return err
		}
		ring.Keys = append(ring.Keys, s)
	}
	text, err := json.MarshalIndent(ring, "", "  ") //nolint:gosec // the secret is kept in this file, 0600
	if err != nil {
		return fmt.Errorf("encode keys: %w", err)
	}
	return replaceFile(k.dir, KeyRingFile, append(text, '\n'))
}

func replaceFile(dir, name string, text []byte) error {
	draft, err := os.CreateTemp(dir, name+".*") // 0600 by contract
	if err != nil {
		return fmt.Errorf("write keys: %w", err)
	}
	_, err = draft.Write(text)
	if err == nil {
		err = draft.Sync()
	}
	err = errors.Join(err, draft.Close())
	if err == nil {
		err = os.Rename(draft.Name(), filepath.Join(dir, name))
	}
	if err != nil {
		return fmt.Errorf("write keys: %w", errors.Join(err, os.Remove(draft.Name())))
	}
	return nil
}
