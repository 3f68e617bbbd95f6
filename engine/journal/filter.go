package journal

import (
	"bytes"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/mockbase/mockbase"
)

// filter is a mockbase.TrafficFilter with what is worth preparing once. Since is inclusive and Until exclusive, so that
// neighbouring ranges share no exchange.
type filter struct {
	mockbase.TrafficFilter

	client netip.Addr
	text   []byte
}

// newFilter prepares f for exchanges that are not older than oldest. A client that is no address selects nothing.
func newFilter(f mockbase.TrafficFilter, oldest time.Time) *filter {
	if f.Since.Before(oldest) {
		f.Since = oldest
	}
	address, err := netip.ParseAddr(f.ClientIP)
	if err != nil {
		address = netip.Addr{}
	}
	return &filter{TrafficFilter: f, client: address.Unmap(), text: []byte(f.Text)}
}

func (f *filter) selects(x *mockbase.Exchange) bool {
	return f.selectsTime(x) && f.selectsRequest(x) && f.selectsAnswer(x) && (f.Text == "" || f.holdsText(x))
}

func (f *filter) selectsTime(x *mockbase.Exchange) bool {
	return !x.At.Before(f.Since) &&
		(f.Until.IsZero() || x.At.Before(f.Until)) &&
		x.Duration >= f.MinDuration
}

func (f *filter) selectsRequest(x *mockbase.Exchange) bool {
	if f.ClientIP != "" && (!f.client.IsValid() || x.Client.IP.Unmap() != f.client) {
		return false
	}
	if f.Session != "" && x.Session.Name != f.Session && x.Session.ID != f.Session {
		return false
	}
	return (f.Method == "" || strings.EqualFold(x.Request.Method, f.Method)) &&
		strings.HasPrefix(x.Request.Path, f.PathPrefix)
}

func (f *filter) selectsAnswer(x *mockbase.Exchange) bool {
	if x.Response.Status < f.StatusMin || f.StatusMax != 0 && x.Response.Status > f.StatusMax {
		return false
	}
	if f.Matched != nil && *f.Matched == (x.AnsweredBy == mockbase.AnsweredByUnmatched) {
		return false
	}
	return (len(f.AnsweredBy) == 0 || slices.Contains(f.AnsweredBy, x.AnsweredBy)) &&
		(f.Mock == "" || x.Mock.Name == f.Mock || x.Mock.ID == f.Mock) &&
		(f.Policy == "" || x.Policy == f.Policy)
}

func (f *filter) holdsText(x *mockbase.Exchange) bool {
	target := x.Request.Target
	if f.Masked {
		target = mockbase.MaskTarget(target)
	}
	// Few exchanges hold what is searched for, so that few are looked through.
	if strings.Contains(target, f.Text) && strings.Contains(f.Hiding.Text(target), f.Text) {
		return true
	}
	if bytes.Contains(x.Response.Body, f.text) && bytes.Contains(f.Hiding.Bytes(x.Response.Body), f.text) {
		return true
	}
	if !bytes.Contains(x.Request.Body, f.text) {
		return false
	}
	body := f.Hiding.Bytes(x.Request.Body)
	if f.Masked {
		body = mockbase.MaskBody(x.Request.Header.Get("Content-Type"), body)
	}
	return bytes.Contains(body, f.text)
}
