package wire

import (
	"bytes"
	"os"
	"strconv"
)

// BuildOf identifies a build of hookc by the content of its program file: by the
// build id that Go's linker writes at the beginning, a hash of all the rest. A
// copy is the same build, and so is what is built of the same source with
// -trimpath elsewhere; other code is another. A program without the id
// (-ldflags=-buildid=) is known by its file, size and time: a copy of it is
// another build.
func BuildOf(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	id := fileID(info) + "/" + strconv.FormatInt(info.Size(), 10) + "/" + strconv.FormatInt(info.ModTime().UnixNano(), 10)
	for _, n := range []int{4 << 10, 64 << 10} { // an ELF file has it in its first page
		if own := buildID(headOf(path, n)); len(own) > 0 {
			id = string(own)
			break
		}
	}
	h := sum([]byte(id))
	const digits = "0123456789abcdef"
	var out [16]byte
	for i := range out {
		out[i] = digits[h>>(60-4*i)&15]
	}
	return string(out[:]), nil
}

// OwnBuild is the build of this program. Its file is looked at through the
// kernel where it can be, since another may have taken its name meanwhile.
func OwnBuild() (string, error) {
	if build, err := BuildOf("/proc/self/exe"); err == nil {
		return build, nil
	}
	path, err := os.Executable()
	if err != nil {
		return "", err
	}
	return BuildOf(path)
}

// buildID finds Go's build id in the beginning of a program: in ELF's note of the
// owner Go and the type 4, or else as text before the code.
func buildID(head []byte) []byte {
	owner := []byte("Go\x00\x00")
	for at := 0; ; {
		i := bytes.Index(head[at:], owner)
		if i < 0 {
			break
		}
		at += i + len(owner)
		if note := at - len(owner) - 12; note >= 0 && le32(head[note+8:]) == 4 && le32(head[note:]) == 4 {
			if size := int(le32(head[note+4:])); size > 0 && size <= len(head)-at {
				return head[at : at+size]
			}
		}
	}
	_, rest, ok := bytes.Cut(head, []byte("\xff Go build ID: \""))
	if !ok {
		return nil
	}
	id, _, ok := bytes.Cut(rest, []byte("\"\n \xff"))
	if !ok {
		return nil
	}
	return id
}
