package sqlite_test

import (
	"fmt"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"testing"

	"github.com/mockbase/mockbase"
	"github.com/mockbase/mockbase/store/sqlite"
)

// BenchmarkCreateMock is one mock for each change, from 16 writers, each in a project of its own.
func BenchmarkCreateMock(b *testing.B) {
	db := open(b, filepath.Join(b.TempDir(), "mockbase.db"))
	var writers atomic.Int64
	b.SetParallelism(8)
	b.RunParallel(func(pb *testing.PB) {
		slug := fmt.Sprintf("w%d", writers.Add(1))
		if err := db.Apply(b.Context(), mockbase.ChangeSet{ProjectID: "prj_" + slug, Project: newProject(slug)}); err != nil {
			b.Error(err)
			return
		}
		for n := 1; pb.Next(); n++ {
			set := mockbase.ChangeSet{ProjectID: "prj_" + slug, IfRevision: int64(n), Put: []*mockbase.Mock{newMock(b, slug, n)}}
			if err := db.Apply(b.Context(), set); err != nil {
				b.Error(err)
				return
			}
		}
	})
}

// BenchmarkApply is a whole project in one change.
func BenchmarkApply(b *testing.B) {
	for _, size := range []int{1_000, 10_000} {
		b.Run(strconv.Itoa(size), func(b *testing.B) {
			db := open(b, filepath.Join(b.TempDir(), "mockbase.db"))
			for n := 0; b.Loop(); n++ {
				b.StopTimer()
				set := projectOf(b, fmt.Sprintf("p%d", n), size)
				b.StartTimer()
				if err := db.Apply(b.Context(), set); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkSnapshots reads everything, as a start does; BenchmarkOpen is the whole of it with opening the files.
func BenchmarkSnapshots(b *testing.B) {
	for _, size := range []int{1_000, 10_000} {
		b.Run(strconv.Itoa(size), func(b *testing.B) {
			db := open(b, filepath.Join(b.TempDir(), "mockbase.db"))
			if err := db.Apply(b.Context(), projectOf(b, "shop", size)); err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				if _, err := db.Snapshots(b.Context()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkOpen(b *testing.B) {
	for _, size := range []int{0, 1_000} {
		b.Run(strconv.Itoa(size), func(b *testing.B) {
			path := filepath.Join(b.TempDir(), "mockbase.db")
			db := open(b, path)
			if err := db.Apply(b.Context(), projectOf(b, "shop", size)); err != nil {
				b.Fatal(err)
			}
			if err := db.Close(); err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				db, err := sqlite.Open(b.Context(), sqlite.Options{Path: path})
				if err != nil {
					b.Fatal(err)
				}
				if _, err := db.Snapshots(b.Context()); err != nil {
					b.Fatal(err)
				}
				b.StopTimer()
				if err := db.Close(); err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
			}
		})
	}
}

// BenchmarkOpenFresh is a first start: the file is made, or the database is in memory.
func BenchmarkOpenFresh(b *testing.B) {
	for name, path := range map[string]func() string{
		"memory": func() string { return "" },
		"file":   func() string { return filepath.Join(b.TempDir(), "mockbase.db") },
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				db, err := sqlite.Open(b.Context(), sqlite.Options{Path: path()})
				if err != nil {
					b.Fatal(err)
				}
				if err := db.Close(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkAppendExchanges is a batch of 100 exchanges with bodies of 1 KiB.
func BenchmarkAppendExchanges(b *testing.B) {
	db := open(b, filepath.Join(b.TempDir(), "mockbase.db"))
	batch := make([]*mockbase.Exchange, 100)
	for i := range batch {
		batch[i] = &mockbase.Exchange{
			ID: fmt.Sprintf("xch_%d", i), ProjectID: "prj_shop", At: noon(), Request: mockbase.RecordedRequest{Method: "GET", Path: "/a"},
			Response: mockbase.RecordedResponse{Status: 200, Body: make([]byte, 1<<10)},
		}
	}
	for b.Loop() {
		if err := db.AppendExchanges(b.Context(), batch); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N*len(batch))/b.Elapsed().Seconds(), "exchanges/s")
}

func projectOf(b *testing.B, slug string, size int) mockbase.ChangeSet {
	b.Helper()
	set := mockbase.ChangeSet{ProjectID: "prj_" + slug, Project: newProject(slug)}
	for n := range size {
		set.Put = append(set.Put, newMock(b, slug, n))
	}
	return set
}
