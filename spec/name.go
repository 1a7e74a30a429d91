package spec

import (
	"errors"
	"strings"
)

// SplitName splits an identifier of one to three parts at its dots. Parts may
// stand in backticks, where two backticks mean one.
func SplitName(s string) ([]string, error) {
	var parts []string
	for {
		part, rest, err := firstPart(s)
		if err != nil {
			return nil, err
		}
		parts = append(parts, part)
		if rest == "" {
			break
		}
		s = rest[1:]
	}
	if len(parts) > 3 {
		return nil, errors.New("it has more than three parts")
	}
	return parts, nil
}

// firstPart cuts the first part off; rest is "" or starts with a dot.
func firstPart(s string) (part, rest string, err error) {
	if !strings.HasPrefix(s, "`") {
		end := strings.IndexByte(s, '.')
		if end < 0 {
			end = len(s)
		}
		part, rest = s[:end], s[end:]
		switch {
		case strings.TrimSpace(part) != part || part == "":
			return "", "", errors.New("a part of it is empty or starts or ends with a blank")
		case strings.ContainsAny(part, "`\n\r\t\x00"):
			return "", "", errors.New("it holds a character that names cannot have")
		}
		return part, rest, nil
	}
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		if s[i] != '`' {
			b.WriteByte(s[i])
			continue
		}
		if i+1 < len(s) && s[i+1] == '`' {
			b.WriteByte('`')
			i++
			continue
		}
		rest = s[i+1:]
		if b.Len() == 0 || rest != "" && rest[0] != '.' {
			return "", "", errors.New("its backticks do not match")
		}
		return b.String(), rest, nil
	}
	return "", "", errors.New("its backticks do not match")
}
