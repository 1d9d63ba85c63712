package runner

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestStreamThatNobodyHoldsEndsByItself(t *testing.T) {
	s, err := openStream()
	require.NoError(t, err)
	_, err = s.write.WriteString("x")
	require.NoError(t, err)
	var got bytes.Buffer
	s.copyTo(&got)
	s.settle(nil)
	assert.Equal(t, "x", got.String())
}
