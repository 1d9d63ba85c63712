// Package browser opens hookc's pages in a real Chromium.
package browser

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// tab is a page of a browser that is driven over its DevTools pipe: JSON messages that
// end with a NUL, in file 3 and out of file 4.
type tab struct {
	// shot is the name of the screenshot that is taken.
	shot string
	*testing.T
	to      *os.File
	from    *bufio.Reader
	last    int
	session string
	// asked are the addresses that were requested, trouble what the console said.
	asked, trouble []string
	loaded         int
}

type message struct {
	ID     int             `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *struct{ Message string }
}

// started is a new browser with one empty page.
func started(t *testing.T) *tab {
	program := os.Getenv("HOOKC_TEST_BROWSER")
	if program == "" {
		t.Skip("HOOKC_TEST_BROWSER names no browser: .ci/browser installs one")
	}
	theirs, to, err := os.Pipe()
	require.NoError(t, err)
	from, answers, err := os.Pipe()
	require.NoError(t, err)
	cmd := exec.Command(program, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--disable-background-networking",
		"--disable-component-update", "--disable-extensions", "--hide-scrollbars", "--remote-debugging-pipe", "--user-data-dir="+t.TempDir(), "about:blank")
	cmd.ExtraFiles = []*os.File{theirs, answers}
	require.NoError(t, cmd.Start())
	require.NoError(t, theirs.Close())
	require.NoError(t, answers.Close())
	hang := time.AfterFunc(8*time.Minute, func() { _ = cmd.Process.Kill() })
	b := &tab{T: t, to: to, from: bufio.NewReaderSize(from, 1<<20)}
	t.Cleanup(func() {
		b.session = ""
		_ = b.send("Browser.close", map[string]any{})
		_ = cmd.Wait()
		hang.Stop()
		_, _ = to.Close(), from.Close()
	})
	var made struct{ TargetID, SessionID string }
	b.call("Target.createTarget", map[string]any{"url": "about:blank"}, &made)
	b.call("Target.attachToTarget", map[string]any{"targetId": made.TargetID, "flatten": true}, &made)
	b.session = made.SessionID
	for _, part := range []string{"Page", "Runtime", "Network", "Log"} {
		b.call(part+".enable", map[string]any{}, nil)
	}
	return b
}

func (b *tab) send(method string, params any) error {
	b.last++
	text, err := json.Marshal(map[string]any{"id": b.last, "method": method, "params": params, "sessionId": b.session})
	if b.session == "" {
		text, err = json.Marshal(map[string]any{"id": b.last, "method": method, "params": params})
	}
	require.NoError(b, err)
	_, err = b.to.Write(append(text, 0))
	return err
}

// next is the next message; what it says of requests, errors and the page is kept.
func (b *tab) next() message {
	text, err := b.from.ReadBytes(0)
	require.NoError(b, err, "the browser ended")
	var m message
	require.NoError(b, json.Unmarshal(text[:len(text)-1], &m))
	switch m.Method {
	case "Network.requestWillBeSent":
		var p struct{ Request struct{ URL string } }
		require.NoError(b, json.Unmarshal(m.Params, &p))
		b.asked = append(b.asked, p.Request.URL)
	case "Runtime.exceptionThrown", "Log.entryAdded", "Runtime.consoleAPICalled", "Page.javascriptDialogOpening":
		b.trouble = append(b.trouble, m.Method+" "+string(m.Params))
	case "Page.loadEventFired":
		b.loaded++
	}
	return m
}

func (b *tab) call(method string, params, result any) {
	b.Helper()
	require.NoError(b, b.send(method, params))
	for id := b.last; ; {
		m := b.next()
		if m.ID != id {
			continue
		}
		require.Nil(b, m.Error, "%s: %v", method, m.Error)
		if result != nil {
			require.NoError(b, json.Unmarshal(m.Result, result))
		}
		return
	}
}

// open shows an address, and returns when all of it is loaded.
func (b *tab) open(address string) {
	b.Helper()
	was := b.loaded
	b.call("Page.navigate", map[string]any{"url": address}, nil)
	for b.loaded == was {
		b.next()
	}
}

// screen is how large the page is, and whether it is dark.
func (b *tab) screen(width int, dark bool) {
	scheme := "light"
	if dark {
		scheme = "dark"
	}
	b.call("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": false}, nil)
	b.call("Emulation.setEmulatedMedia", map[string]any{"features": []any{map[string]any{"name": "prefers-color-scheme", "value": scheme}}}, nil)
}

// eval is the value of a JavaScript expression.
func (b *tab) eval(script string, value any) {
	b.Helper()
	var got struct {
		Result           struct{ Value json.RawMessage }
		ExceptionDetails json.RawMessage
	}
	b.call("Runtime.evaluate", map[string]any{"expression": script, "returnByValue": true, "awaitPromise": true}, &got)
	require.Empty(b, string(got.ExceptionDetails), script)
	if value != nil {
		require.NoError(b, json.Unmarshal(got.Result.Value, value), "%s", script)
	}
}

// key presses a key.
func (b *tab) key(name string) {
	codes := map[string]int{"Tab": 9, "Enter": 13}
	down := map[string]any{"type": "keyDown", "key": name, "code": name, "windowsVirtualKeyCode": codes[name]}
	if name == "Enter" {
		down["text"] = "\r"
	}
	b.call("Input.dispatchKeyEvent", down, nil)
	b.call("Input.dispatchKeyEvent", map[string]any{"type": "keyUp", "key": name, "code": name, "windowsVirtualKeyCode": codes[name]}, nil)
}

// faults are what is wrong with how the page looks.
func (b *tab) faults() (out []string) {
	b.Helper()
	b.eval(layoutScript+"; layout()", &out)
	return out
}

// quiet fails when the page asked for anything beyond its own server, or complained.
func (b *tab) quiet(base string) {
	b.Helper()
	for _, address := range b.asked {
		if address != "about:blank" && !strings.HasPrefix(address, base) && !strings.HasPrefix(address, "file:") && !strings.HasPrefix(address, "data:") {
			b.Errorf("it asked for %s", address)
		}
	}
	for _, text := range b.trouble {
		b.Errorf("it said %s", text)
	}
	b.asked, b.trouble = nil, nil
}

func describe(width int, dark bool) string { return fmt.Sprintf("%d pixels, dark %v", width, dark) }
