package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"syscall"

	"github.com/mockbase/mockbase/cmd/mockbase/internal/config"
)

// lastPrivilegedPort is the highest port that systems keep for the administrator.
const lastPrivilegedPort = 1023

// binder binds addresses. Its fields are the system's, which a test may replace where it lacks the rights for the real
// thing.
type binder struct {
	listen  func(ctx context.Context, network, address string) (net.Listener, error)
	holder  func(port int) string
	origins map[string]config.Origin
}

func newBinder(origins map[string]config.Origin) *binder {
	return &binder{listen: new(net.ListenConfig).Listen, holder: holderOf, origins: origins}
}

// bind binds the addresses of the named settings, all or none: when one fails, none stays open (rule C-21).
func (b *binder) bind(ctx context.Context, addresses []namedAddress) ([]net.Listener, error) {
	var open []net.Listener
	for _, a := range addresses {
		l, err := b.listen(ctx, "tcp", string(a.address))
		if err != nil {
			failed := b.explain(a, err)
			for _, l := range open {
				failed = errors.Join(failed, l.Close())
			}
			return nil, failed
		}
		open = append(open, l)
	}
	return open, nil
}

// namedAddress is an address with the flag that sets it.
type namedAddress struct {
	flag    string
	address config.Address
}

// explain says why an address could not be bound, which setting it came from and what to do (rule C-80).
func (b *binder) explain(a namedAddress, err error) error {
	f := &failure{code: exitEnvironment, what: fmt.Sprintf("listen on %s (%s)", a.address, b.source(a.flag))}
	var refused *net.OpError
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		f.err = errors.New("the port is in use" + b.holder(a.address.Port()))
		f.fix = fmt.Sprintf("stop it, or choose another port: --%s %s, or port 0 for any free one", a.flag, b.next(a.address))
	case errors.Is(err, syscall.EACCES) && a.address.Port() <= lastPrivilegedPort:
		f.err = fmt.Errorf("port %d is kept for the administrator", a.address.Port())
		f.fix = fmt.Sprintf("choose one above %d, or give the program the capability: setcap cap_net_bind_service=+ep, or --cap-add NET_BIND_SERVICE for a container", lastPrivilegedPort)
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		f.err = fmt.Errorf("%s is no address of this machine", a.address.Host())
		f.fix = "choose one of this machine's addresses, 127.0.0.1 for this machine alone, or 0.0.0.0 for all of them"
	case errors.As(err, &refused):
		f.err = refused.Err
	default:
		f.err = err
	}
	return f
}

// source names the flag and the variable of a setting, and says when it has its default.
func (b *binder) source(flag string) string {
	origin := b.origins[flag]
	text := "--" + flag + ", " + config.EnvName(flag)
	if origin == config.FromDefault {
		return text + "; the default"
	}
	return text + "; from " + string(origin)
}

// next proposes the port above the one that is taken.
func (*binder) next(a config.Address) string {
	port := a.Port() + 1
	if port > 65535 {
		port = 0
	}
	return net.JoinHostPort(a.Host(), strconv.Itoa(port))
}

// holderOf finds the process that listens on a port, as " by pid 4711 (nginx)", or "" where the system does not tell:
// it shows other users' processes to the administrator only, and on Linux alone.
func holderOf(port int) string {
	sockets := listeningSockets(port)
	if len(sockets) == 0 {
		return ""
	}
	processes, err := os.ReadDir("/proc")
	if err != nil {
		return ""
	}
	for _, process := range processes {
		pid := process.Name()
		if strings.Trim(pid, "0123456789") != "" || !holds(pid, sockets) {
			continue
		}
		name, err := os.ReadFile("/proc/" + pid + "/comm") //nolint:gosec // pid is digits
		if err != nil {
			return " by pid " + pid
		}
		return " by pid " + pid + " (" + strings.TrimSpace(string(name)) + ")"
	}
	return ""
}

// listeningSockets returns the names of the sockets that listen on a port, as /proc shows them behind descriptors.
func listeningSockets(port int) map[string]bool {
	sockets := map[string]bool{}
	for _, table := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		text, err := os.ReadFile(table) //nolint:gosec // one of the two above
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(text)) {
			if inode := listenerInode(line, port); inode != "" {
				sockets["socket:["+inode+"]"] = true
			}
		}
	}
	return sockets
}

// listenerInode returns the inode of the socket in a line of /proc/net/tcp, if it listens on the port.
func listenerInode(line string, port int) string {
	const stateListen = "0A"
	fields := strings.Fields(line)
	if len(fields) < 10 || fields[3] != stateListen {
		return ""
	}
	_, hexPort, _ := strings.Cut(fields[1], ":")
	if n, err := strconv.ParseUint(hexPort, 16, 16); err != nil || int(n) != port {
		return ""
	}
	return fields[9]
}

// holds tells whether a process has one of the sockets open.
func holds(pid string, sockets map[string]bool) bool {
	folder := "/proc/" + pid + "/fd/"
	descriptors, err := os.ReadDir(folder)
	if err != nil {
		return false
	}
	for _, d := range descriptors {
		if target, err := os.Readlink(folder + d.Name()); err == nil && sockets[target] {
			return true
		}
	}
	return false
}
