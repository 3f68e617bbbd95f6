package management

import (
	"log/slog"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/management/auth"
)

// keyView is a signing key without its private half (M-229).
type keyView struct {
	ID        string        `json:"id"`
	Algorithm string        `json:"algorithm"`
	State     auth.KeyState `json:"state"`
	CreatedAt string        `json:"createdAt"`
	RetiresAt *string       `json:"retiresAt"`
}

// listKeys lists the keys that sign, will sign or verify still (M-229).
func (s *Server) listKeys(c *call) error {
	l, err := c.params().listing("-createdAt", "state")
	if err != nil {
		return err
	}
	return s.answerKeys(c, l)
}

func (s *Server) answerKeys(c *call, l listing) error {
	views := []keyView{}
	for _, k := range s.Keys.Keys() {
		if l.finds(k.ID) {
			views = append(views, keyView{k.ID, k.Algorithm, k.State, timeText(k.CreatedAt), maybeTime(k.RetiresAt)})
		}
	}
	total := len(views)
	onPage, next := cut(l, views, func(v keyView) key {
		if l.sort == "state" {
			return key{Text: string(v.State), ID: v.ID}
		}
		return key{Text: v.CreatedAt, ID: v.ID}
	})
	return c.list(l, onPage, total, next)
}

// rotateKeys puts the next key into use (M-230). With revokeNow no former key verifies any more, and every sign-in ends.
func (s *Server) rotateKeys(c *call) error {
	revokeNow := false
	if err := c.maybeObject(func(f *mockbase.Fields) { f.Bool("revokeNow", &revokeNow) }); err != nil {
		return err
	}
	rotate := s.Keys.Rotate
	if revokeNow {
		rotate = s.Keys.Replace
		// The entry is written with this change, before the keys are.
		if err := s.Accounts.EndAllSignIns(c.ctx(), s.clock()); err != nil {
			return err
		}
	}
	if err := s.audited(c); err != nil {
		return err
	}
	if err := rotate(); err != nil {
		return err
	}
	s.note(c, slog.LevelWarn, "signing keys rotated", c.caller.user.ID)
	return s.answerKeys(c, listing{limit: maxLimit, sort: "createdAt", descending: true})
}
