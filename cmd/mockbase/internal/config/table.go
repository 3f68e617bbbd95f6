package config

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/alecthomas/kong"
)

// envPrefix begins the name of every variable.
const envPrefix = "MOCKBASE_"

// Setting is a row of the table.
type Setting struct {
	// Name is the flag without its hyphens; Env and Key are the other two spellings.
	Name, Env, Key string
	// Default is the default as text, Meaning a sentence for people.
	Default, Meaning string
	// Group is the key of the group it is listed in.
	Group string
	// Secret tells that its value is never shown.
	Secret bool
	// Placeholder stands for the value in help; a setting without one is a switch.
	Placeholder string
}

// Groups are the headings of the table, by the keys that Setting.Group holds, in the order of the table.
func Groups() []kong.Group {
	return []kong.Group{
		{Key: "listen", Title: "Where it listens"},
		{Key: "data", Title: "Where data is kept"},
		{Key: "files", Title: "Mocks from files"},
		{Key: "limits", Title: "The shield: limits that keep the server alive"},
		{Key: "client", Title: "Who a client is"},
		{Key: "redis", Title: "Redis, which shares the shield's counts between servers"},
		{Key: "journal", Title: "The record of requests"},
		{Key: "bounds", Title: "Bounds of a call"},
		{Key: "instance", Title: "The instance"},
		{Key: "messages", Title: "What it says, and where"},
		{Key: "admin", Title: "The first administrator"},
		{Key: "target", Title: "The server that is called, and how its answer is shown"},
		{Key: "provider", Title: "Signing in by an identity provider"},
	}
}

// Table lists every setting in the order of the struct.
func Table() ([]Setting, error) { return tableOf(&Settings{}) }

// tableOf lists the settings of a struct with kong's tags.
func tableOf(tagged any) ([]Setting, error) {
	model, err := kong.New(tagged, kong.ExplicitGroups(Groups()), kong.NoDefaultHelp())
	if err != nil {
		return nil, fmt.Errorf("read table of settings: %w", err)
	}
	table := make([]Setting, 0, len(model.Model.Flags))
	for _, flag := range model.Model.Flags {
		table = append(table, settingOf(flag))
	}
	return table, nil
}

func settingOf(flag *kong.Flag) Setting {
	s := Setting{
		Name:        flag.Name,
		Env:         EnvName(flag.Name),
		Key:         keyName(flag.Name),
		Default:     flag.Default,
		Meaning:     flag.Help,
		Secret:      flag.Target.Type() == reflect.TypeFor[Secret](),
		Placeholder: flag.PlaceHolder,
	}
	if flag.Group != nil {
		s.Group = flag.Group.Key
	}
	if s.Default == "" && flag.IsBool() {
		s.Default = "false"
	}
	return s
}

// addressFlag is the one flag whose variable and key have another name: it is an address to call, as --public-url is one
// to be called at.
const addressFlag, addressName = "server", "url"

// EnvName is the variable of the setting with this flag name.
func EnvName(name string) string {
	if name == addressFlag {
		name = addressName
	}
	return envPrefix + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
}

// keyName is the key of a setting in the configuration file: its flag in camel case.
func keyName(name string) string {
	if name == addressFlag {
		return addressName
	}
	words := strings.Split(name, "-")
	for i, word := range words[1:] {
		words[i+1] = strings.ToUpper(word[:1]) + word[1:]
	}
	return strings.Join(words, "")
}

// Values writes every setting the way it is read, by flag name. Secrets hide themselves.
func (s *Settings) Values() (map[string]string, error) {
	model, err := kong.New(s, kong.ExplicitGroups(Groups()), kong.NoDefaultHelp())
	if err != nil {
		return nil, fmt.Errorf("read table of settings: %w", err)
	}
	values := map[string]string{}
	for _, flag := range model.Model.Flags {
		values[flag.Name] = ValueText(flag.Target)
	}
	return values, nil
}

// ValueText writes a value the way it is read. Secrets hide themselves.
func ValueText(v reflect.Value) string {
	if v.Kind() != reflect.Slice {
		return fmt.Sprint(v.Interface())
	}
	items := make([]string, 0, v.Len())
	for i := range v.Len() {
		items = append(items, fmt.Sprint(v.Index(i).Interface()))
	}
	return strings.Join(items, ",")
}
