// Starts hookc lsp and lets VS Code speak with it.
const { commands, window, workspace } = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

exports.activate = (context) => {
  // The path is a setting of the machine: no workspace names the program.
  const command = workspace.getConfiguration("hookc").get("path") || "hookc";
  const patterns = ["**/hooks.yaml", "**/hooks.local.yaml", "**/*_test.yaml", "**/HOOK.md", "**/*.rego"];
  client = new LanguageClient("hookc", "hookc", { command, args: ["lsp"] }, {
    documentSelector: patterns.map((pattern) => ({ scheme: "file", pattern })),
    synchronize: { fileEvents: workspace.createFileSystemWatcher("**/*.{yaml,rego,md,json}") },
  });
  context.subscriptions.push(commands.registerCommand("hookc.test", () => {
    if (!workspace.isTrusted) return; // tests run what the policy names
    const terminal = window.createTerminal("hookc test");
    terminal.show();
    terminal.sendText("hookc test");
  }));
  return client.start();
};

exports.deactivate = () => client && client.stop();
