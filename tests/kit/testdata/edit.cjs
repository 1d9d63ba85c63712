// A session of an editor with hookc lsp, over the protocol's own library:
// node edit.cjs FOLDER HOOKC. What was answered goes to stdout as JSON.
const { createRequire } = require("node:module");
const { spawn } = require("node:child_process");
const fs = require("node:fs");
const path = require("node:path");
const { pathToFileURL } = require("node:url");

const need = createRequire(path.join(process.env.HOOKC_TEST_KIT, "package.json"));
const lsp = need("vscode-languageserver-protocol/node");
const [folder, hookc] = process.argv.slice(2);
const uri = (name) => pathToFileURL(path.join(folder, name)).href;
const read = (name) => fs.readFileSync(path.join(folder, name), "utf8");

const child = spawn(hookc, ["lsp", "--stdio"], { cwd: folder, stdio: ["pipe", "pipe", "inherit"] });
const ended = new Promise((resolve) => child.on("exit", resolve));
const connection = lsp.createProtocolConnection(new lsp.StreamMessageReader(child.stdout), new lsp.StreamMessageWriter(child.stdin));
const texts = {}, versions = {}, found = {};
let told = () => {};
connection.onNotification(lsp.PublishDiagnosticsNotification.type, (p) => {
  found[p.uri] = p;
  told();
});
connection.listen();

// until waits for findings of a file that are as they should be.
const until = async (name, ok) => {
  for (;;) {
    const p = found[uri(name)];
    if (p && (p.version === undefined || p.version === versions[name]) && ok(p.diagnostics)) return p.diagnostics;
    await new Promise((resolve) => (told = resolve));
  }
};
const open = (name, text = read(name), language = "yaml") => {
  texts[name] = text;
  versions[name] = 1;
  connection.sendNotification(lsp.DidOpenTextDocumentNotification.type, { textDocument: { uri: uri(name), languageId: language, version: 1, text } });
};
const clean = (d) => d.every((x) => x.severity === 4);
// place is where a word is, with `|` for the cursor.
const place = (name, word) => {
  const plain = word.replace("|", "");
  const at = texts[name].indexOf(plain) + word.indexOf("|");
  const lines = texts[name].slice(0, at).split(/\r\n|\n/);
  return { line: lines.length - 1, character: lines[lines.length - 1].length };
};
const about = (name, word) => ({ textDocument: { uri: uri(name) }, position: place(name, word) });
// type replaces a word, as an editor that sends what changes.
const type = (name, before, after) => {
  const start = place(name, "|" + before), end = place(name, before + "|");
  texts[name] = texts[name].replace(before, () => after);
  versions[name]++;
  connection.sendNotification(lsp.DidChangeTextDocumentNotification.type, {
    textDocument: { uri: uri(name), version: versions[name] }, contentChanges: [{ range: { start, end }, text: after }] });
};
// apply makes the edits of one file, from the last.
const apply = (name, edits) => {
  const offset = (p) => texts[name].split("\n").slice(0, p.line).reduce((n, l) => n + l.length + 1, 0) + p.character;
  return [...edits].sort((a, b) => offset(b.range.start) - offset(a.range.start))
    .reduce((t, e) => t.slice(0, offset(e.range.start)) + e.newText + t.slice(offset(e.range.end)), texts[name]);
};
const relative = (u) => path.relative(folder, new URL(u).pathname);
const places = (all) => all.map((l) => `${relative(l.uri)}:${l.range.start.line}:${l.range.start.character}`).sort();
const failure = (promise) => promise.then(() => "answered", (e) => e.code);

(async () => {
  const out = {};
  out.early = await failure(connection.sendRequest(lsp.HoverRequest.type, { textDocument: { uri: uri("hooks.yaml") }, position: { line: 0, character: 0 } }));
  const ready = await connection.sendRequest(lsp.InitializeRequest.type, { processId: process.pid, rootUri: uri(""), capabilities: {}, workspaceFolders: [{ uri: uri(""), name: "w" }] });
  out.server = ready.serverInfo.name;
  connection.sendNotification(lsp.InitializedNotification.type, {});

  open("hooks.yaml");
  out.clean = await until("hooks.yaml", clean);
  // As one types.
  type("hooks.yaml", "deny: 'com", "dny: 'com");
  out.typo = await until("hooks.yaml", (d) => d.some((x) => x.code === "HK006"));
  const range = out.typo.find((x) => x.code === "HK006").range;
  const actions = await connection.sendRequest(lsp.CodeActionRequest.type, { textDocument: { uri: uri("hooks.yaml") }, range, context: { diagnostics: out.typo } });
  out.actions = actions.map((a) => a.title);
  texts["hooks.yaml"] = apply("hooks.yaml", actions[0].edit.changes[uri("hooks.yaml")]);
  versions["hooks.yaml"]++;
  connection.sendNotification(lsp.DidChangeTextDocumentNotification.type, { textDocument: { uri: uri("hooks.yaml"), version: versions["hooks.yaml"] }, contentChanges: [{ text: texts["hooks.yaml"] }] });
  await until("hooks.yaml", clean);
  out.fixed = texts["hooks.yaml"] === read("hooks.yaml");

  const hover = async (name, word) => (await connection.sendRequest(lsp.HoverRequest.type, about(name, word)))?.contents.value ?? "";
  const complete = async (name, word) => (await connection.sendRequest(lsp.CompletionRequest.type, about(name, word))).items.map((i) => i.label);
  out.hover = { key: await hover("hooks.yaml", "rea|son:"), field: await hover("hooks.yaml", "comm|and contains"), event: await hover("hooks.yaml", "pre_tool_ex|ecution"), hook: await hover("hooks.yaml", "dep|loys") };
  out.keys = await complete("hooks.yaml", "|reason: \"no 😀 deploys\"");
  out.events = await complete("hooks.yaml", "pre_t|ool_execution");

  open("guard.rego", read("guard.rego"), "rego");
  await until("guard.rego", clean);
  out.hover.fn = await hover("guard.rego", "path.ba|se(");
  out.hover.rule = await hover("guard.rego", "|deny contains");
  out.data = await complete("guard.rego", "data.li|mits");
  out.inputs = await complete("guard.rego", "input.co|mmand");
  out.definition = places(await connection.sendRequest(lsp.DefinitionRequest.type, about("guard.rego", "if ri|sky")));
  out.file = places(await connection.sendRequest(lsp.DefinitionRequest.type, about("hooks.yaml", "gua|rd.rego")));
  out.references = places(await connection.sendRequest(lsp.ReferencesRequest.type, { ...about("guard.rego", "ri|sky if"), context: { includeDeclaration: true } }));
  type("guard.rego", "contains(", "containz(");
  out.rego = await until("guard.rego", (d) => d.some((x) => x.code === "HK071"));
  type("guard.rego", "containz(", "contains(");
  await until("guard.rego", clean);

  const rename = { ...about("hooks.yaml", "dep|loys"), newName: "releases" };
  out.prepared = await connection.sendRequest(lsp.PrepareRenameRequest.type, rename);
  const edit = await connection.sendRequest(lsp.RenameRequest.type, rename);
  texts["hooks_test.yaml"] = read("hooks_test.yaml");
  out.renamed = Object.fromEntries(Object.entries(edit.changes).map(([u, e]) => [relative(u), apply(relative(u), e)]));
  out.badName = await failure(connection.sendRequest(lsp.RenameRequest.type, { ...rename, newName: "a: b\n" }));
  out.taken = await failure(connection.sendRequest(lsp.RenameRequest.type, { ...rename, newName: "guard" }));

  const format = (name) => connection.sendRequest(lsp.DocumentFormattingRequest.type, { textDocument: { uri: uri(name) }, options: { tabSize: 2, insertSpaces: true } });
  type("hooks.yaml", "version: 1", "version:    1");
  out.formatted = apply("hooks.yaml", await format("hooks.yaml"));
  type("hooks.yaml", "version:    1", "version: 1");
  await until("hooks.yaml", clean);
  out.lenses = (await connection.sendRequest(lsp.CodeLensRequest.type, { textDocument: { uri: uri("hooks.yaml") } })).map((l) => l.command.title);

  // Another line end, and characters of two units.
  open("windows/hooks.yaml");
  out.crlf = await until("windows/hooks.yaml", (d) => d.length > 0);

  // What is not the editor's, and what is wrong.
  out.outside = await connection.sendRequest(lsp.HoverRequest.type, { textDocument: { uri: "file:///etc/passwd" }, position: { line: 0, character: 1 } });
  out.elsewhere = await connection.sendRequest(lsp.HoverRequest.type, { textDocument: { uri: "untitled:a" }, position: { line: 0, character: 1 } });
  out.unknown = await failure(connection.sendRequest("hookc/unheard-of", {}));
  out.params = await failure(connection.sendRequest("textDocument/hover", [1]));
  child.stdin.write("Content-Length: 3\r\n\r\n{{{");
  child.stdin.write("Content-Length: 2\r\nContent-Type: x\r\n\r\n[]");
  const source = new lsp.CancellationTokenSource();
  const cancelled = failure(connection.sendRequest(lsp.HoverRequest.type, about("hooks.yaml", "rea|son:"), source.token));
  source.cancel();
  out.cancelled = await cancelled;
  out.after = (await hover("hooks.yaml", "rea|son:")).length > 0;
  await connection.sendRequest(lsp.ShutdownRequest.type);
  out.late = await failure(connection.sendRequest(lsp.HoverRequest.type, about("hooks.yaml", "rea|son:")));
  connection.sendNotification(lsp.ExitNotification.type);
  out.exit = await ended;
  console.log(JSON.stringify(out, null, 1));
})().catch((e) => {
  console.error(e);
  process.exit(1);
});
