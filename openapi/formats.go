package openapi

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"math/big"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// registerFormats adds the formats of OpenAPI to those of JSON Schema.
func registerFormats(c *jsonschema.Compiler) {
	for name, bits := range map[string]uint{"int32": 31, "int64": 63} {
		limit := new(big.Int).Lsh(big.NewInt(1), bits)
		c.RegisterFormat(&jsonschema.Format{Name: name, Validate: func(v any) error {
			n, ok := v.(json.Number)
			if !ok {
				return nil
			}
			value := rational(string(n))
			if !value.IsInt() || value.Num().Cmp(limit) >= 0 || value.Num().Cmp(new(big.Int).Neg(limit)) < 0 {
				return errors.New("it does not fit")
			}
			return nil
		}})
	}
	c.RegisterFormat(&jsonschema.Format{Name: "byte", Validate: func(v any) error {
		text, ok := v.(string)
		if !ok {
			return nil
		}
		_, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(text, "="))
		return err
	}})
}

// rational reads a number that JSON allows; anything else is 0. It is bounded like all numbers.
func rational(text string) *big.Rat {
	value, ok := new(big.Rat).SetString(string(bounded(json.Number(text))))
	if !ok {
		return new(big.Rat)
	}
	return value
}
