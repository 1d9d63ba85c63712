// Fires hook events through Qwen Code's own registry, planner, runner and
// aggregator. Start: node qwen.mjs PACKAGE FOLDER. The published command is one
// file that exports nothing and starts itself: a copy of it in FOLDER, with its
// last statement left out, exports the classes. Cases and answers are as those
// of gemini.mjs.
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

import { serve } from './serve.mjs';

const published = readFileSync(path.join(process.argv[2], 'cli.js'), 'utf8');
const start = published.lastIndexOf('\nmain().catch(');
if (start < 0) throw new Error('the command does not start as it used to');
const copy = path.join(process.argv[3], 'qwen-code.mjs');
writeFileSync(copy, published.slice(0, start) + '\ninit_hookSystem();\nexport { HookSystem, createHookOutput };\n');
const qwen = await import(pathToFileURL(copy).href);

function configuration(c) {
  return {
    getUserHooks: () => undefined,
    getProjectHooks: () => c.hooks,
    getExtensions: () => [],
    getAllowedHttpHookUrls: () => [],
    getSessionId: () => c.session,
    getWorkingDir: () => c.cwd,
    getUsageStatisticsEnabled: () => false,
  };
}

function context(event, input) {
  switch (event) {
    case 'PreToolUse':
    case 'PostToolUse':
    case 'PostToolUseFailure':
    case 'PermissionRequest':
      return { toolName: input.tool_name };
    case 'SessionStart':
      return { trigger: input.source };
    case 'SessionEnd':
      return { trigger: input.reason };
    case 'PreCompact':
    case 'PostCompact':
      return { trigger: input.trigger };
    case 'Notification':
      return { notificationType: input.notification_type };
    case 'SubagentStart':
    case 'SubagentStop':
      return { agentType: input.agent_type };
    case 'StopFailure':
      return { error: input.error };
  }
  return undefined;
}

// outcome does what the agent does where it fires each event.
function outcome(event, output) {
  const out = { action: 'proceed', reason: '', context: '', system: String(output.systemMessage || '') };
  const block = (reason) => ({ ...out, action: 'block', blocked: true, reason });
  switch (event) {
    case 'PreToolUse':
      if (output.isDenied()) {
        return block(String(output.getPermissionDecisionReason() || output.getEffectiveReason()));
      }
      // Both keep the tool from running, and the run goes on.
      if (output.isAsk()) return block(String(output.getPermissionDecisionReason() || 'User confirmation required'));
      if (output.shouldStopExecution()) return block(String(output.getEffectiveReason()));
      break;
    case 'PostToolUse':
      // The result is replaced.
      if (output.shouldStopExecution()) return block(String(output.getEffectiveReason()));
      break;
    case 'UserPromptSubmit':
    case 'Stop':
    case 'SubagentStop':
      if (output.isBlockingDecision() || output.shouldStopExecution()) {
        return block(String(output.getEffectiveReason()));
      }
      break;
    case 'PermissionRequest': {
      const decision = output.getPermissionDecision();
      if (decision?.behavior === 'allow') return { ...out, action: 'allow', tool_input: decision.updatedInput };
      if (decision) return { ...block(String(decision.message || 'No reason provided')), action: decision.interrupt ? 'stop' : 'block' };
      return out;
    }
  }
  if (['PreToolUse', 'PostToolUse', 'PostToolUseFailure', 'UserPromptSubmit', 'SessionStart', 'SubagentStart'].includes(event)) {
    out.context = (output.getAdditionalContext() ?? '').replace(/&lt;/g, '<').replace(/&gt;/g, '>');
  }
  return out;
}

async function run(c) {
  const system = new qwen.HookSystem(configuration(c));
  await system.initialize();
  let plan = null;
  try {
    plan = system.hookPlanner.createExecutionPlan(c.event, context(c.event, c.input));
  } catch {
    // The handler below meets the same mistake, and lets the event through.
  }
  const result = await system.getEventHandler().executeHooks(c.event, c.input, context(c.event, c.input));
  const answer = {
    id: c.id, sequential: !!plan?.sequential,
    gave_up: result.errors.some((e) => e instanceof TypeError) && result.allOutputs.length === 0,
  };
  if (!result.finalOutput) return { ...answer, none: true };
  try {
    return { ...answer, ...outcome(c.event, qwen.createHookOutput(c.event, result.finalOutput)) };
  } catch {
    // Where the agent fires the event it catches this too, and goes on.
    return { ...answer, none: true };
  }
}

serve(run);
