import json
import sys

event = json.load(sys.stdin)
changed = dict(event["tool_input"], content=event["tool_input"].get("content", "").rstrip() + "\n")
json.dump({"decision": "allow", "modified_input": changed}, sys.stdout)
