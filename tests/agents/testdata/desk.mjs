// An MCP server with one tool, for agents to call.
import { createInterface } from "node:readline";

const answer = (id, result) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id, result }) + "\n");
const tool = { name: "look_up", description: "looks something up", inputSchema: { type: "object", properties: { what: { type: "string" } } } };

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  switch (method) {
    case "initialize":
      return answer(id, { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "desk", version: "1" } });
    case "tools/list":
      return answer(id, { tools: [tool] });
    case "tools/call":
      return answer(id, { content: [{ type: "text", text: "found " + params.arguments.what }] });
  }
  if (id !== undefined) answer(id, {});
});
