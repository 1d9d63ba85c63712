#!/bin/sh
if grep -q script-denies; then echo "the script denies it" >&2; exit 2; fi
