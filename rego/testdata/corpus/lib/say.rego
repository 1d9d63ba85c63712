package lib.say

violation(code, msg) := {"code": code, "msg": msg, "reason": sprintf("[%s] %s", [code, msg])}

graded(code, severity, msg) := object.union(violation(code, msg), {"severity": severity})

short(text) := text if count(text) <= 40

short(text) := sprintf("%s... (%d more)", [substring(text, 0, 37), count(text) - 37]) if count(text) > 40

list(things) := concat(", ", sort(things))
