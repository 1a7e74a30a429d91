package main

import (
	"fmt"
	"strings"
)

// parseParams reads --param name=value flags.
func parseParams(list []string) (map[string]string, error) {
	out := map[string]string{}
	for _, p := range list {
		name, value, ok := strings.Cut(p, "=")
		if !ok || name == "" {
			return nil, usageError{fmt.Errorf("--param wants name=value, not %q", p)}
		}
		out[name] = value
	}
	return out, nil
}
