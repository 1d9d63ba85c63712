// Fires hook events through Gemini CLI's own registry, planner, runner and
// aggregator. Start: node gemini.mjs PACKAGE. Each line of stdin is a case
//   {id, cwd, session, hooks, disabled, enabled, event, input}
// and each line of stdout what became of it; the order may differ.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

import { serve } from './serve.mjs';

// The published bundle splits the core into several chunks; the one that the
// command itself loads is named in it.
const bundle = path.join(process.argv[2], 'bundle');
const entry = readFileSync(path.join(bundle, 'gemini.js'), 'utf8');
const [, core] = /import\("\.\/(dist-[A-Z0-9]+\.js)"\)/.exec(entry);
const gemini = await import(pathToFileURL(path.join(bundle, core)).href);

// configuration answers what the hook code asks of the agent's Config.
function configuration(c) {
  return {
    config: { getSessionId: () => c.session, getWorkingDir: () => c.cwd, getUsageStatisticsEnabled: () => false },
    sanitizationConfig: { enableEnvironmentVariableRedaction: false },
    storage: { getPlansDir: () => path.join(c.cwd, 'plans') },
    isTrustedFolder: () => true,
    getHooks: () => c.hooks,
    getProjectHooks: () => undefined,
    getDisabledHooks: () => c.disabled,
    getExtensions: () => [],
    getSessionId: () => c.session,
    getUsageStatisticsEnabled: () => false,
  };
}

// context is what the agent plans by at an event, as its fire…Event methods
// build it.
function context(event, input) {
  switch (event) {
    case 'BeforeTool':
    case 'AfterTool':
      return { toolName: input.tool_name };
    case 'SessionStart':
      return { trigger: input.source };
    case 'SessionEnd':
      return { trigger: input.reason };
    case 'PreCompress':
      return { trigger: input.trigger };
  }
  return undefined;
}

// outcome reads the merged output through its own methods, in the order in
// which the agent does: stop, then block, then the rest.
function outcome(event, input, final) {
  const out = { action: 'proceed', reason: '', context: '', system: String(final.systemMessage || '') };
  const obeys = !['SessionStart', 'SessionEnd', 'Notification', 'PreCompress', 'BeforeToolSelection'].includes(event);
  if (obeys && final.shouldStopExecution()) {
    return { ...out, action: 'stop', blocked: final.getBlockingError().blocked, reason: String(final.getEffectiveReason()) };
  }
  if (obeys && final.getBlockingError().blocked) {
    return { ...out, action: 'block', blocked: true, reason: String(final.getBlockingError().reason) };
  }
  if (event === 'BeforeTool') {
    if (final.isAskDecision()) out.action = 'ask';
    out.tool_input = final.getModifiedToolInput();
  }
  if (['SessionStart', 'BeforeAgent', 'AfterTool'].includes(event)) {
    // The agent reads it with two characters escaped for its own markup.
    out.context = (final.getAdditionalContext() ?? '').replace(/&lt;/g, '<').replace(/&gt;/g, '>');
  }
  if (event === 'BeforeModel') {
    const request = input.llm_request;
    const contents = request.messages.map((m) => ({ role: m.role, parts: [{ text: m.content }] }));
    const { config, ...rest } = request;
    const applied = final.applyLLMRequestModifications({ ...rest, contents, config });
    out.llm_request = {
      model: applied.model,
      messages: applied.contents.map((c) => ({ role: c.role, content: c.parts.map((p) => p.text).join('') })),
      config: applied.config,
    };
  }
  if (event === 'BeforeToolSelection') {
    out.tool_config = final.applyToolConfigModifications({}).toolConfig?.functionCallingConfig;
  }
  if (event === 'AfterModel') {
    const response = final.getModifiedResponse();
    if (response) out.text = response.candidates[0].content.parts.map((p) => p.text).join('');
  }
  return out;
}

async function run(c) {
  if (c.enabled === false) return { id: c.id, none: true };
  const config = configuration(c);
  const system = new gemini.HookSystem(config);
  await system.initialize();
  let plan = null;
  try {
    plan = system.hookPlanner.createExecutionPlan(c.event, context(c.event, c.input));
  } catch {
    // The handler below meets the same mistake, and lets the event through.
  }
  const result = await system.getEventHandler().executeHooks(c.event, c.input, context(c.event, c.input));
  const answer = { id: c.id, sequential: !!plan?.sequential };
  // Its runner gave up in the middle of a sequence.
  answer.gave_up = result.errors.some((e) => e instanceof TypeError) && result.allOutputs.length === 0;
  if (!result.finalOutput) return { ...answer, none: true };
  try {
    return { ...answer, ...outcome(c.event, c.input, result.finalOutput) };
  } catch (e) {
    return { ...answer, none: true, threw: String(e) };
  }
}

serve(run);
