package config

import (
	"fmt"
	"math/bits"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/ratelimit"
)

// Address is where a listener is bound: host:port or :port; port 0 lets the system choose (rule C-6).
type Address string

// UnmarshalText checks the form; the system checks the rest when it binds.
func (a *Address) UnmarshalText(text []byte) error {
	_, port, err := net.SplitHostPort(string(text))
	if err != nil {
		return fmt.Errorf("%q is no address: write host:port, or :port for every address of this machine", text)
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return fmt.Errorf("%q has no usable port: write a number from 0 to 65535, 0 for any free one", text)
	}
	*a = Address(text)
	return nil
}

// Host and Port are the two parts of the address.
func (a Address) Host() string {
	host, _, _ := net.SplitHostPort(string(a))
	return host
}

// Port is the number behind the host; 0 lets the system choose.
func (a Address) Port() int {
	_, port, _ := net.SplitHostPort(string(a))
	n, _ := strconv.Atoi(port)
	return n
}

// BaseURL is a scheme, a host and maybe a port.
type BaseURL string

// UnmarshalText takes an http or https URL without anything behind the host.
func (b *BaseURL) UnmarshalText(text []byte) error {
	u, err := url.Parse(string(text))
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return fmt.Errorf("%q is no URL: write it like https://mocks.example.com", text)
	}
	if strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "" || u.User != nil {
		return fmt.Errorf("%q holds more than a scheme, a host and a port", text)
	}
	*b = BaseURL(u.Scheme + "://" + u.Host)
	return nil
}

// BasePath is a path in front of all others, without a slash at the end; "" is none.
type BasePath string

// UnmarshalText takes /mockbase or /tools/mockbase; a slash alone is no path.
func (b *BasePath) UnmarshalText(text []byte) error {
	path := strings.TrimSuffix(string(text), "/")
	const known = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/"
	if path != "" && (path[0] != '/' || strings.Trim(path, known) != "" || slices.Contains(strings.Split(path[1:], "/"), "") || strings.Contains(path, "/.")) {
		return fmt.Errorf("%q is no base path: write it like /mockbase", text)
	}
	*b = BasePath(path)
	return nil
}

// WebOrigin is a web origin as browsers send it.
type WebOrigin string

// UnmarshalText takes what a browser would put into the Origin header.
func (o *WebOrigin) UnmarshalText(text []byte) error {
	var base BaseURL
	if err := base.UnmarshalText(text); err != nil {
		return err
	}
	*o = WebOrigin(strings.ToLower(string(base)))
	return nil
}

// Slug is the name of a project.
type Slug string

// UnmarshalText checks the spelling.
func (s *Slug) UnmarshalText(text []byte) error {
	if len(text) > 0 && !mockbase.ValidSlug(string(text)) {
		return fmt.Errorf("%q is no project name: write 1 to 64 lower-case letters, digits and hyphens", text)
	}
	*s = Slug(text)
	return nil
}

// Duration is a time span with a unit (rule M-2).
type Duration time.Duration

// UnmarshalText reads 250ms, 10s, 1m30s, 24h or 7d.
func (d *Duration) UnmarshalText(text []byte) error {
	v, err := mockbase.ParseDuration(string(text))
	if err != nil {
		return err
	}
	*d = Duration(v)
	return nil
}

// Span is the time as the standard library counts it.
func (d Duration) Span() time.Duration { return time.Duration(d) }

// String writes the time in the largest units that hold it, as 24h, 1m30s or 250ms.
func (d Duration) String() string {
	text := time.Duration(d).String()
	for _, zero := range []string{"m0s", "h0m"} {
		if strings.HasSuffix(text, zero) {
			text = text[:len(text)-2]
		}
	}
	return text
}

// Bytes is a size.
type Bytes int64

// UnmarshalText reads a number of bytes, or one with the unit KiB, MiB, GiB, kB, MB or GB.
func (b *Bytes) UnmarshalText(text []byte) error {
	digits := strings.TrimRight(string(text), "kKMGiB ")
	n, err := strconv.ParseUint(digits, 10, 63)
	factor, known := byteUnit(strings.TrimSpace(string(text[len(digits):])))
	if err != nil || !known {
		return fmt.Errorf("%q is no size: write it like 64MiB, 16KiB or 1048576", text)
	}
	if high, low := bits.Mul64(n, factor); high > 0 || low > 1<<62 {
		return fmt.Errorf("%q is more than any machine holds", text)
	}
	*b = Bytes(n * factor) //nolint:gosec // the product was checked above
	return nil
}

// String writes the size in the largest unit that divides it.
func (b Bytes) String() string {
	for _, u := range []struct {
		size Bytes
		name string
	}{{1 << 30, "GiB"}, {1 << 20, "MiB"}, {1 << 10, "KiB"}} {
		if b >= u.size && b%u.size == 0 {
			return strconv.FormatInt(int64(b/u.size), 10) + u.name
		}
	}
	return strconv.FormatInt(int64(b), 10)
}

func byteUnit(unit string) (factor uint64, known bool) {
	switch unit {
	case "", "B":
		return 1, true
	case "KiB":
		return 1 << 10, true
	case "MiB":
		return 1 << 20, true
	case "GiB":
		return 1 << 30, true
	case "kB", "KB":
		return 1e3, true
	case "MB":
		return 1e6, true
	case "GB":
		return 1e9, true
	}
	return 0, false
}

// Count is a whole number from 0.
type Count int

// UnmarshalText reads a whole number.
func (c *Count) UnmarshalText(text []byte) error {
	n, err := strconv.ParseUint(string(text), 10, 31)
	if err != nil {
		return fmt.Errorf("%q is no count: write a whole number from 0 to %d", text, 1<<31-1)
	}
	*c = Count(n)
	return nil
}

// Network is a network, or one address.
type Network netip.Prefix

// UnmarshalText reads 10.0.0.0/8, 192.0.2.7 or 2001:db8::/32. IPv4 that is written as IPv6 is IPv4 (rule RL74).
func (n *Network) UnmarshalText(text []byte) error {
	if prefix, err := netip.ParsePrefix(string(text)); err == nil {
		*n = Network(ratelimit.UnwrapNetwork(prefix))
		return nil
	}
	addr, err := netip.ParseAddr(string(text))
	if err != nil || addr.Zone() != "" {
		return fmt.Errorf("%q is no network: write it like 10.0.0.0/8, 192.0.2.7 or 2001:db8::/32", text)
	}
	addr = ratelimit.UnwrapAddress(addr)
	*n = Network(netip.PrefixFrom(addr, addr.BitLen()))
	return nil
}

// String writes the network, a single address without its length.
func (n Network) String() string {
	if prefix := netip.Prefix(n); !prefix.IsSingleIP() {
		return prefix.String()
	}
	return netip.Prefix(n).Addr().String()
}

// PrefixLength is the number of leading bits of an IPv6 address that make one client (rule RL75).
type PrefixLength int

// UnmarshalText reads a number from 32 to 128.
func (p *PrefixLength) UnmarshalText(text []byte) error {
	n, err := strconv.Atoi(string(text))
	if err != nil || n < 32 || n > 128 {
		return fmt.Errorf("%q is no prefix length: write a number from 32 to 128", text)
	}
	*p = PrefixLength(n)
	return nil
}

// AddressHeader names the header that holds a client's address (rule RL71).
type AddressHeader string

// UnmarshalText takes a header name, or none.
func (a *AddressHeader) UnmarshalText(text []byte) error {
	name := strings.ToLower(string(text))
	if name == "" || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" {
		return fmt.Errorf("%q is no header name: write x-forwarded-for, forwarded, the name of a header with one address, or none", text)
	}
	*a = AddressHeader(name)
	return nil
}

// Secret is a text that is never shown.
type Secret string

// UnmarshalText takes any text.
func (s *Secret) UnmarshalText(text []byte) error {
	*s = Secret(text)
	return nil
}

// String hides the text, so that no format verb and no log can show it.
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return "(set)"
}

// GoString hides the text from %#v.
func (s Secret) GoString() string { return s.String() }

// Reveal returns the text.
func (s Secret) Reveal() string { return string(s) }
