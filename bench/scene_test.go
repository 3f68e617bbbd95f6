package bench_test

import (
	"strings"
	"testing"
	"time"

	"github.com/mockbase/mockbase/bench"
	"github.com/mockbase/mockbase/internal/testkit"
)

func TestEverySceneAnswersItsRequests(t *testing.T) {
	t.Parallel()
	upstream := floor(t, served(t, bench.Spec{Mocks: 1}))
	for _, scene := range []bench.Scene{
		bench.SceneStatic, bench.SceneParameters, bench.SceneTemplated, bench.SceneLarge, bench.SceneBody, bench.SceneProxy, bench.SceneDocument,
	} {
		t.Run("scene "+string(scene), func(t *testing.T) {
			t.Parallel()
			spec := bench.Spec{Mocks: 3, Scene: scene, Journal: true, Upstream: upstream, Operations: 3, Size: 10_000}
			if scene == bench.SceneBody {
				spec.Mocks = 1
			}
			load := spec.Load(served(t, spec), 2)
			load.Count = 20
			out, err := load.Run(t.Context())
			if err != nil || out.Refused > 0 || out.Requests != 20 {
				t.Errorf("%+v, %v", out, err)
			}
		})
	}
}

func TestTheBodyIsComparedByTwoMocks(t *testing.T) {
	t.Parallel()
	spec := bench.Spec{Mocks: 1, Scene: bench.SceneBody}
	requests, _ := spec.Requests()
	request := string(requests[0])
	_, body, _ := strings.Cut(request, "\r\n\r\n")
	if len(body) < 1900 || len(body) > 2300 {
		t.Errorf("the body has %d bytes, want about 2 KB", len(body))
	}
	addr := served(t, spec)
	for _, last := range []string{"1000}", "1001}"} {
		if answer := testkit.RawHTTP(t, addr, strings.Replace(request, "1000}", last, 1)); answer.Status != 200 {
			t.Errorf("a body that ends in %s is answered with %d", last, answer.Status)
		}
	}
	if answer := testkit.RawHTTP(t, addr, strings.Replace(request, "1000}", "1002}", 1)); answer.Status != 404 {
		t.Errorf("a body that neither wants is answered with %d", answer.Status)
	}
}

func TestAFloorReadsWhatItIsAskedToRead(t *testing.T) {
	t.Parallel()
	addr := served(t, bench.Spec{Floor: &bench.Floor{Reads: true, Body: []byte("read")}})
	for body, want := range map[string]int{"[1]": 200, "[1": 400} {
		got := testkit.RawHTTP(t, addr, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: "+string(rune('0'+len(body)))+"\r\n\r\n"+body)
		if got.Status != want {
			t.Errorf("%s: %d, want %d", body, got.Status, want)
		}
	}
}

func TestAProxyFloorPassesOn(t *testing.T) {
	t.Parallel()
	upstream := served(t, bench.Spec{Floor: &bench.Floor{Body: []byte("from behind")}})
	got := testkit.RawHTTP(t, served(t, bench.Spec{Floor: &bench.Floor{Upstream: upstream}}), "GET /any HTTP/1.1\r\nHost: x\r\n\r\n")
	if string(got.Body) != "from behind" {
		t.Errorf("%d %q", got.Status, got.Body)
	}
}

func TestACrowdWaitsForAllAnswers(t *testing.T) {
	t.Parallel()
	spec := bench.Spec{Mocks: 1, Scene: bench.SceneEvents}
	requests, _ := spec.Requests()
	crowd, err := bench.Gather(t.Context(), served(t, spec), 20)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(crowd.End)
	if err := crowd.Ask(requests[0], 10*time.Second); err != nil {
		t.Error(err)
	}
	if err := crowd.Ask([]byte("GET /nowhere HTTP/1.1\r\n\r\n"), 10*time.Second); err == nil {
		t.Error("an answer that is none was taken for one")
	}
}
