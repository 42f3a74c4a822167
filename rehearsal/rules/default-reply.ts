import { conform, generateInstance } from '../generator.ts';
import { type MessagesRequest, isObject, quote, textOf, type JsonObject } from '../messages-api.ts';
import type { ContentReply } from '../script.ts';
import { ownWork, type SharedWork } from './agent-rule.ts';
import { answerDesign, isDesignStage } from './design-rule.ts';
import { describeResults, giveTasks, readLeader } from './leader-rule.ts';
import { readMember } from './member-prompt.ts';
import { describeWork, takeTurn } from './member-rule.ts';
import { readPrompt, textIn, type Prompt } from './prompt.ts';
import { reportRepair, stepRepair } from './repair-rule.ts';
import { answerFromWeb } from './web-rule.ts';
import { answerByRule } from './shape-rules.ts';

/** Returns true for a request of a section as code alone. */
function asksForCode(request: MessagesRequest): boolean {
  return /<request[^<>]*\skind="code"/u.test(textIn(request.messages[0]?.blocks ?? []));
}

/** Rehearsed code of every section, in TypeScript. */
const rehearsedCode = `// Rehearsal: a rule wrote these lines, no model was called.
function rehearse(): string {
  return 'rehearsal';
}
`;

const detailTool = 'load_detail';
const webTool = 'web_research';

function usedTools(request: MessagesRequest): readonly string[] {
  return request.messages.flatMap((message) =>
    message.blocks
      .filter((block) => block.type === 'tool_use')
      .map((block) => textOf(block['name'])),
  );
}

/** Builds the tool's input by its schema, with the detail's id if the schema has a field for it. */
function toolInput(tool: JsonObject, prompt: Prompt): JsonObject {
  const schema = isObject(tool['input_schema']) ? tool['input_schema'] : {};
  const generated = generateInstance(schema, prompt.goal, textOf(tool['name']));
  const input = isObject(generated) ? generated : {};
  if (tool['name'] === webTool) {
    const about = textOf(prompt.delegation['title']) || prompt.goal;
    return { question: `What is known about ${quote(about, 200)}?` };
  }
  const detailId = prompt.detailIndex[0]?.['detail_id'];
  if (tool['name'] !== detailTool || detailId === undefined) return input;
  // Nothing else: a generated page is one that the detail does not have.
  return 'detail_ids' in input ? { detail_ids: [detailId] } : { detail_id: detailId };
}

/** The tools of a wave are offered to all of its agents, those of a design to the one that may call them. */
function mayAskWeb(request: MessagesRequest, { allowedTools }: Prompt): boolean {
  return allowedTools.includes(webTool) || isDesignStage(request);
}

/** Chooses the tool of this turn by the default rules; undefined when the turn is for the answer. */
function chooseTool(request: MessagesRequest, prompt: Prompt): JsonObject | undefined {
  const choice = textOf(request.toolChoice?.['type']);
  const named = (name: string): JsonObject | undefined =>
    request.tools.find((tool) => tool['name'] === name);
  if (choice === 'none') return undefined;
  if (choice === 'tool') return named(textOf(request.toolChoice?.['name']));
  const wantsDetail = prompt.detailIndex.length > 0 && !usedTools(request).includes(detailTool);
  const loader = wantsDetail ? named(detailTool) : undefined;
  const asksWeb = mayAskWeb(request, prompt) && !usedTools(request).includes(webTool);
  const next = loader ?? (asksWeb ? named(webTool) : undefined);
  return choice === 'any' ? (next ?? request.tools[0]) : next;
}

function freeText(prompt: Prompt): string {
  return [
    '## Rehearsal',
    '',
    `This text was written by rule for ${quote(prompt.goal, 400)}. No model was called.`,
    '',
  ].join('\n');
}

/** The part of an agent that does not work alone, or calls tools in a fixed order. */
interface Part {
  /** Null when only the output is left. */
  readonly reply: ContentReply | null;
  readonly shared: SharedWork;
}

/** Plays the part of a triad's member, of a team's leader, or of an agent of a repair; null for all others. */
function takePart(request: MessagesRequest, prompt: Prompt): Part | null {
  const member = readMember(request);
  if (member !== null) {
    const turn = takeTurn(prompt, member);
    // The output of a triad is its writer's last reply, when nothing else is left to do.
    const isTurn = turn.tool_use !== undefined || request.schema === null;
    return { reply: isTurn ? turn : null, shared: describeWork(member) };
  }
  const leader = readLeader(request);
  if (leader === null) {
    if (reportRepair(prompt) === null) return null;
    return { reply: stepRepair(request, prompt), shared: ownWork };
  }
  const parts = describeResults(request, leader);
  const { earlier } = leader;
  return {
    reply: giveTasks(prompt, leader),
    shared: { label: 'Result', parts, unmet: new Map(), earlier },
  };
}

/**
 * Composes the answer of the rehearsal model without a script: the turn of a triad's member, the tasks of a team's
 * leader, a tool call, planwave's own shapes by their rules, any other schema by the generator, and without a schema a
 * short Markdown text. The same request has the same answer.
 */
export function composeDefaultReply(request: MessagesRequest): ContentReply {
  const found = answerFromWeb(request);
  if (found !== null) return found;
  const prompt = readPrompt(request);
  const part = takePart(request, prompt);
  if (part !== null && part.reply !== null) return part.reply;
  if (asksForCode(request)) return { text: rehearsedCode };
  const tool = part === null ? chooseTool(request, prompt) : undefined;
  if (tool !== undefined) {
    const call = { name: textOf(tool['name']), input: toolInput(tool, prompt) };
    return { text: `Rehearsal: ${call.name} first.`, tool_use: [call] };
  }
  if (request.schema === null) return { text: freeText(prompt) };
  const value =
    answerDesign(request, prompt) ?? answerByRule(request.schema, prompt, part?.shared ?? null);
  return {
    json:
      value === null
        ? generateInstance(request.schema, prompt.goal)
        : conform(request.schema, value, prompt.goal),
  };
}
