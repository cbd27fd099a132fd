//go:build unix

package load

import (
	"syscall"
	"testing"
	"time"
)

// TestPipe names a pipe that nobody writes to, as a plan might: it is refused and not waited for.
func TestPipe(t *testing.T) {
	tree(t, "budgetplan.yaml")
	if err := syscall.Mkfifo("pipe.yaml", 0o600); err != nil {
		t.Skip(err)
	}
	done := make(chan error, 1)
	go func() {
		_, err := Near("budgetplan.yaml", "pipe.yaml")
		done <- err
	}()
	select {
	case err := <-done:
		if err == nil {
			t.Error("a pipe counts as a file")
		}
	case <-time.After(10 * time.Second):
		t.Fatal("the pipe is waited for")
	}
	if inputs, err := Near("budgetplan.yaml", "*.yaml"); err != nil || len(inputs) != 1 {
		t.Errorf("a glob finds %v, %v, want the plan alone", inputs, err)
	}
	if Plain("pipe.yaml") == nil || Plain("budgetplan.yaml") != nil || Plain(".") != nil {
		t.Error("Plain takes a pipe, or refuses a file or a directory")
	}
}
