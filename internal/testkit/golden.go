package testkit

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// updateGolden is the environment variable that writes golden files anew. A flag would not do: `go test ./... -flag`
// fails in each package that does not define it.
const updateGolden = "UPDATE_GOLDEN"

// Golden compares got with the golden file at path, below the test's package. With UPDATE_GOLDEN=1 in the environment
// it writes the file instead, and creates its folder.
func Golden(tb testing.TB, path string, got []byte) {
	tb.Helper()
	//nolint:forbidigo // only tests are told this way, and only here
	if os.Getenv(updateGolden) == "1" {
		writeGolden(tb, path, got)
		return
	}
	want, err := os.ReadFile(path) //nolint:gosec // the test names the file
	if err != nil {
		tb.Errorf("read golden file: %v; write it with %s=1", err, updateGolden)
		return
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		tb.Errorf("%s differs (-want +got); if the change is meant, write it anew with %s=1:\n%s", path, updateGolden, diff)
	}
}

func writeGolden(tb testing.TB, path string, got []byte) {
	tb.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		tb.Fatalf("make the golden file's folder: %v", err)
	}
	if err := os.WriteFile(path, got, 0o600); err != nil {
		tb.Fatalf("write golden file: %v", err)
	}
}
