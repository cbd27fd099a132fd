package diag

import (
	"bytes"
	"slices"
)

// Masked hides what is secret in URLs, their user part and the values of their query, byte by byte, so that every place
// in the text stays where it is. A text without any is given back as it is.
func Masked(text []byte) []byte {
	const scheme = "://"
	if !bytes.Contains(text, []byte(scheme)) {
		return text
	}
	out := slices.Clone(text)
	for rest := out; ; {
		at := bytes.Index(rest, []byte(scheme))
		if at < 0 {
			return out
		}
		rest = rest[at+len(scheme):]
		url := rest
		if end := bytes.IndexAny(url, " \t\r\n\"'`<>|\x00"); end >= 0 {
			url = url[:end]
		}
		host := url
		if end := bytes.IndexAny(url, "/?#"); end >= 0 {
			host = url[:end]
		}
		mask(host[:max(0, bytes.LastIndexByte(host, '@'))])
		_, query, _ := bytes.Cut(url, []byte{'?'})
		for len(query) > 0 {
			var pair []byte
			pair, query, _ = bytes.Cut(query, []byte{'&'})
			if _, value, ok := bytes.Cut(pair, []byte{'='}); ok {
				mask(value)
			}
		}
		rest = rest[len(url):]
	}
}

// mask leaves the bytes of longer runes, so that runes are as many as before.
func mask(secret []byte) {
	for i, b := range secret {
		if b < 0x80 {
			secret[i] = '*'
		}
	}
}
