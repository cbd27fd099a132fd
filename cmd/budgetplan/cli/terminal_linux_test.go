package cli

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/term"
)

// What a terminal shows is what a log has, colour aside, in a wide one and in one of 80 columns.
func TestTerminalAndLogAgree(t *testing.T) {
	t.Chdir("../../..")
	t.Setenv("NO_COLOR", "")
	t.Setenv("TERM", "xterm")
	painted := 0
	for _, args := range [][]string{
		{"check", "examples/checkout"},
		{"check", "-v", "examples"},
		{"check", "--format", "short", "examples/checkout"},
		{"check", "--format", "markdown", "examples/checkout"},
		{"check", "--format", "github", "examples/checkout"},
		{"plan", "examples"},
		{"plan", "--format", "csv", "examples/product"},
		{"plan", "--sources", "examples/product"},
		{"explain", "BP101"},
		{"explain", "defaults"},
		{"explain", "gateway/order", "examples/checkout"},
		{"explain", "checkout", "examples/checkout"},
		{"graph", "examples/checkout"},
		{"import", "examples/envoy-front-proxy/deploy/envoy.yaml"},
		{"rules"},
		{"schema"},
		{"help", "check"},
		{"what-if", "--set", "inventory/warehouse retries=0", "examples/checkout"},
	} {
		var log, told bytes.Buffer
		status := Main(args, strings.NewReader(""), &log, &told)
		if status > statusFindings || log.Len() == 0 {
			t.Fatalf("%s: exit status %d: %s", args, status, told.String())
		}
		for _, columns := range []uint16{80, 237} {
			shown := inTerminal(t, columns, args)
			if shown != log.String() {
				painted++
			}
			if colours.ReplaceAllString(shown, "") != log.String() {
				t.Errorf("%s: a terminal of %d columns shows\n%s\na log\n%s", args, columns, shown, log.String())
			}
		}
	}
	if painted == 0 {
		t.Error("nothing was painted: the terminal is none")
	}
}

var colours = regexp.MustCompile("\x1b\\[[0-9;]*m")

// inTerminal runs a command whose standard output is a terminal, and gives what was written to it.
func inTerminal(t *testing.T, columns uint16, args []string) string {
	t.Helper()
	screen, slave := openTerminal(t, columns)
	if _, err := term.MakeRaw(int(slave.Fd())); err != nil { // a line feed stays one
		t.Fatal(err)
	}
	shown := make(chan []byte)
	go func() {
		b, _ := io.ReadAll(screen) // ends with EIO once the other side is closed
		shown <- b
	}()
	Main(args, strings.NewReader(""), slave, io.Discard)
	slave.Close()
	return string(<-shown)
}

// openTerminal opens a pseudo-terminal of a width, as in pty(7).
func openTerminal(t *testing.T, columns uint16) (screen, slave *os.File) {
	t.Helper()
	screen, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("CI needs pseudo-terminals: %v", err)
		}
		t.Skipf("there are no pseudo-terminals: %v", err)
	}
	t.Cleanup(func() { screen.Close() })
	control := func(f *os.File, request uintptr, argument unsafe.Pointer) {
		t.Helper()
		if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, f.Fd(), request, uintptr(argument)); errno != 0 {
			t.Fatal(errno)
		}
	}
	var unlocked, number int32
	control(screen, syscall.TIOCSPTLCK, unsafe.Pointer(&unlocked))
	control(screen, syscall.TIOCGPTN, unsafe.Pointer(&number))
	slave, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	size := struct{ rows, columns, x, y uint16 }{24, columns, 0, 0}
	control(slave, syscall.TIOCSWINSZ, unsafe.Pointer(&size))
	return screen, slave
}
