package engine

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path"
	"strings"

	"github.com/mockbase/mockbase"
)

// maxFile is the largest file that is sent, as for every other body (mock format, section 6).
const maxFile = 10 << 20

// filed is a reply whose body is a file below the operator's root. It is read for each call, so that it may change.
type filed struct {
	draft    draft
	settings *settings
}

var _ reply = (*filed)(nil)

// prepare reads the file.
func (f *filed) prepare(*call) (sending, *failure) {
	d := f.draft
	if failed := d.load(f.settings, string(d.body)); failed != nil {
		return nil, failed
	}
	return d.compile(f.settings), nil
}

// load takes a file as the body (rules O5 and O17).
func (d *draft) load(s *settings, name string) *failure {
	body, failed := s.readFile(name)
	if failed != nil {
		return failed
	}
	d.body, d.mediaType = body, mockbase.MediaTypeOf(name)
	return nil
}

// readFile reads a file below the root. Its name is a relative path with slashes.
func (s *settings) readFile(name string) ([]byte, *failure) {
	if s.files == nil {
		return nil, badFile("outside root", fmt.Sprintf("The file %s cannot be read: this server has no files root.", quoted(name)))
	}
	clean := path.Clean(name)
	if !insideRoot(name) {
		return nil, outsideRoot(name)
	}
	body, err := readBelow(s.files, clean)
	switch {
	case err == nil:
		return body, nil
	case errors.Is(err, fs.ErrNotExist):
		return nil, badFile("no such file", fmt.Sprintf("There is no file %s below the files root.", quoted(clean)))
	case errors.Is(err, errNoFile), errors.Is(err, errLargeFile), errors.Is(err, fs.ErrPermission):
		return nil, badFile("unreadable file", fmt.Sprintf("The file %s cannot be read: %s.", quoted(clean), bare(err)))
	default:
		// os.Root says so of paths and symbolic links that lead out of it, and has no error to compare with.
		return nil, outsideRoot(name)
	}
}

// insideRoot tells whether the name of a file leads below the root, as far as the name says.
func insideRoot(name string) bool {
	return name != "" && fs.ValidPath(path.Clean(name)) && !strings.ContainsRune(name, 0)
}

var (
	errNoFile    = errors.New("it is no ordinary file")
	errLargeFile = fmt.Errorf("it is larger than %d bytes", maxFile)
)

func bare(err error) error {
	if broken, ok := errors.AsType[*fs.PathError](err); ok {
		return broken.Err
	}
	return err
}

// readBelow reads a file without leaving the root, be it by a symbolic link. What could block when it is opened, such as
// a pipe, is never opened.
func readBelow(root *os.Root, name string) ([]byte, error) {
	info, err := root.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errNoFile
	}
	if info.Size() > maxFile {
		return nil, errLargeFile
	}
	f, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	body := make([]byte, 0, info.Size()+1)
	for len(body) <= maxFile {
		if len(body) == cap(body) {
			body = append(body, 0)[:len(body)]
		}
		n, err := f.Read(body[len(body):cap(body)])
		body = body[:len(body)+n]
		if errors.Is(err, io.EOF) {
			return body, nil
		}
		if err != nil {
			return nil, err
		}
	}
	return nil, errLargeFile
}

func badFile(title, detail string) *failure {
	return &failure{status: http.StatusInternalServerError, code: mockbase.CodeAnswerFailed, title: title, detail: detail, own: true}
}

func outsideRoot(name string) *failure {
	return badFile("outside root", fmt.Sprintf("The file %s lies outside root: a file is named by a path below the files root.", quoted(name)))
}
