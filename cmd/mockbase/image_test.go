package main

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// C-60: what the image is made of. Whether it runs is for a machine with containers to say.
func TestC60_the_image_differs_from_the_program_in_two_defaults(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	_, last, _ := strings.Cut(string(text), "\nFROM scratch\n")
	for _, want := range []string{
		"USER 65532:65532", `ENTRYPOINT ["mockbase"]`, `CMD ["serve"]`, "EXPOSE 8080", `VOLUME ["/data"]`, `CMD ["mockbase", "healthcheck", "--ready"]`,
		"MOCKBASE_ADDR=0.0.0.0:8080", "MOCKBASE_DATA_DIR=/data", "--chown=65532:0 /out/data /data",
	} {
		if !strings.Contains(last, want) {
			t.Errorf("the image lacks %s", want)
		}
	}
	if n := strings.Count(last, "MOCKBASE_"); n != 2 {
		t.Errorf("the image sets %d variables of ours, want 2", n)
	}
	if !strings.Contains(string(text), "CGO_ENABLED=0") || !strings.Contains(string(text), "GOARCH=$TARGETARCH") {
		t.Error("the program is not built static and for the target")
	}
}

// composed is what the tests read of a compose file.
type composed struct {
	Services map[string]struct {
		Image       string            `yaml:"image"`
		Command     []string          `yaml:"command"`
		Environment map[string]string `yaml:"environment"`
		ReadOnly    bool              `yaml:"read_only"` //nolint:tagliatelle // the name that Compose gives it
		Volumes     []string          `yaml:"volumes"`
		Deploy      struct {
			Replicas int `yaml:"replicas"`
		} `yaml:"deploy"`
	} `yaml:"services"`
	Volumes map[string]any `yaml:"volumes"`
}

func readComposed(t *testing.T, path string) (*composed, string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var c composed
	if err := yaml.Unmarshal(text, &c); err != nil {
		t.Fatal(err)
	}
	return &c, string(text)
}

// C-62: one service and one named volume; and two replicas that share limits behind a proxy.
func TestC62_compose_files_hold_what_they_are_for(t *testing.T) {
	t.Parallel()
	alone, text := readComposed(t, "../../compose.yaml")
	if len(alone.Services) != 1 || len(alone.Volumes) != 1 || strings.Contains(text, "redis:") || len(alone.Services["mockbase"].Command) != 0 {
		t.Errorf("compose.yaml: %d services, %d volumes", len(alone.Services), len(alone.Volumes))
	}
	many, _ := readComposed(t, "../../compose.redis.yaml")
	server := many.Services["mockbase"]
	if server.Deploy.Replicas != 2 || len(server.Command) != 2 || server.Command[0] != "serve" || !server.ReadOnly {
		t.Errorf("compose.redis.yaml: %+v", server)
	}
	for _, name := range []string{"MOCKBASE_REDIS_URL", "MOCKBASE_TRUSTED_PROXIES"} {
		if server.Environment[name] == "" {
			t.Errorf("compose.redis.yaml lacks %s", name)
		}
	}
	if len(many.Services) != 3 || len(many.Volumes) != 0 {
		t.Errorf("compose.redis.yaml: %d services; replicas must share no volume", len(many.Services))
	}
}

// C-20, C-3: every variable that a compose file sets is one that the program knows.
func TestC62_compose_files_set_variables_that_there_are(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"../../compose.yaml", "../../compose.redis.yaml"} {
		c, _ := readComposed(t, path)
		environ := []string{"MOCKBASE_ADMIN_EMAIL="}
		for name, value := range c.Services["mockbase"].Environment {
			if !strings.Contains(value, "${") {
				environ = append(environ, name+"="+value)
			}
		}
		var out, said strings.Builder
		if code := run(t.Context(), []string{"config", "-o", "json"}, stdio{Out: &out, Err: &said}, environ); code != 0 || said.Len() > 0 {
			t.Errorf("%s: config ended with %d: %s", path, code, said.String())
		}
		if !json.Valid([]byte(out.String())) {
			t.Errorf("%s: no JSON: %s", path, out.String())
		}
	}
}
