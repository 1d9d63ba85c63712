#!/bin/sh
exec /tmp/hookc-upgrade/bin/hookc run pre-agent-turn-stop --dialect agenthooks
