#!/bin/sh
cat >/dev/null
echo "recursive delete is not allowed here" >&2
exit 2
