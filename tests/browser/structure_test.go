package browser

import (
	"bytes"
	"encoding/base64"
	"flag"
	"fmt"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"strings"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write the structures of the screenshots anew")

const (
	// block is how large a square of a screenshot is that is described by one letter.
	block = 30
	// alike is how many of a hundred squares must be as they were. Other fonts move some.
	alike = 85
)

// screenshot is what is seen of the page.
func (b *tab) screenshot() image.Image {
	var got struct{ Data string }
	b.call("Page.captureScreenshot", map[string]any{"format": "png"}, &got)
	data, err := base64.StdEncoding.DecodeString(got.Data)
	require.NoError(b, err)
	if dir := os.Getenv("HOOKC_TEST_SCREENSHOTS"); dir != "" {
		require.NoError(b, os.WriteFile(filepath.Join(dir, b.shot+".png"), data, 0o644))
	}
	img, err := png.Decode(bytes.NewReader(data))
	require.NoError(b, err)
	return img
}

// structure describes a screenshot: a line a row of squares, a letter a square. A dot is
// all of the ground's colour, the others are how much of the square is not.
func structure(img image.Image) (out []string) {
	size := img.Bounds()
	at := func(x, y int) [3]uint32 { r, g, b, _ := img.At(x, y).RGBA(); return [3]uint32{r >> 8, g >> 8, b >> 8} }
	ground := at(size.Max.X-2, size.Max.Y-2)
	for y := 0; y+block <= size.Max.Y; y += block {
		var line strings.Builder
		for x := 0; x+block <= size.Max.X; x += block {
			ink := 0
			for i := range block * block {
				p := at(x+i%block, y+i/block)
				far := 0
				for c := range p {
					far = max(far, int(p[c])-int(ground[c]), int(ground[c])-int(p[c]))
				}
				if far > 40 {
					ink++
				}
			}
			switch {
			case ink < 8:
				line.WriteByte('.')
			case ink < block*block/3:
				line.WriteByte('+')
			default:
				line.WriteByte('#')
			}
		}
		out = append(out, line.String())
	}
	return out
}

// compared compares what is seen of the page with what was seen before, square by square.
func (b *tab) compared(path string, width int, dark bool) {
	b.Helper()
	name := strings.Trim(strings.NewReplacer("/", "-", "?", "-", "=", "-").Replace(strings.Split(path, "?id")[0]), "-")
	if name == "" {
		name = "decisions"
	}
	b.shot = fmt.Sprintf("%s-%d-%v", name, width, dark)
	got := structure(b.screenshot())
	file := filepath.Join("testdata", fmt.Sprintf("%s-%d.txt", name, width))
	if *update {
		if !dark {
			require.NoError(b, os.WriteFile(file, []byte(strings.Join(got, "\n")+"\n"), 0o644))
		}
		return
	}
	text, err := os.ReadFile(file)
	require.NoError(b, err)
	want := strings.Split(strings.TrimSpace(string(text)), "\n")
	require.Len(b, got, len(want))
	same, all := 0, 0
	for y := range want {
		require.Len(b, got[y], len(want[y]))
		for x := range want[y] {
			if want[y][x] == '.' && got[y][x] == '.' {
				continue // the empty parts of a page say little
			}
			if all++; (want[y][x] == '.') == (got[y][x] == '.') {
				same++
			}
		}
	}
	assert.GreaterOrEqual(b, same*100, alike*all, "%s: %d of %d squares are as they were:\n%s", b.shot, same, all, strings.Join(got, "\n"))
}
