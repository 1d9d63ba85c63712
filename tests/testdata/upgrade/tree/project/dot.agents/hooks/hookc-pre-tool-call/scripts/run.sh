#!/bin/sh
exec /tmp/hookc-upgrade/bin/hookc run pre-tool-call --dialect agenthooks
