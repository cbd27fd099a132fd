package diag

import "testing"

func TestMasked(t *testing.T) {
	for text, want := range map[string]string{
		"envoy: http://me:pw@host/x?token=abc&v=1#top": "envoy: http://*****@host/x?token=***&v=*****",
		`"https://me@host" 'http://h/?a=b'`:            `"https://**@host" 'http://h/?a=*'`,
		"http://host:80/a@b/c?x":                       "http://host:80/a@b/c?x",
		"redis://:p@w@host":                            "redis://****@host",
		"a?b=c me@host ://":                            "a?b=c me@host ://",
		"http://ü:x@h http://y:z@h":                    "http://ü**@h http://***@h",
	} {
		if got := string(Masked([]byte(text))); got != want {
			t.Errorf("%s\nis masked as\n%s\nwant\n%s", text, got, want)
		}
	}
}
