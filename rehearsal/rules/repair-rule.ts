import {
  objectsOf,
  stringsOf,
  textOf,
  type MessagesRequest,
  type JsonObject,
} from '../messages-api.ts';
import type { ContentReply } from '../script.ts';
import type { Prompt } from './prompt.ts';

/**
 * The rehearsal of a repair: for a goal such as "Make the failing test pass" an engineer mends a line, a tester runs the
 * tests, and a reviewer reads the change. The first mend is wrong on purpose, so that the tests fail once more.
 */

const ids = { mend: 'mend-code', test: 'run-tests', review: 'review-change' } as const;

const testCommand = { argv: ['node', '--test'] };

/** The line that is mended subtracts two names, and nothing else. */
const subtraction = { pattern: String.raw`return \w+ - \w+;` };

/** Finds an agent that has these tools. */
function findAgent(agents: readonly JsonObject[], ...tools: readonly string[]): string | null {
  const found = agents.find((agent) => {
    const own = stringsOf(agent['tools']);
    return tools.every((tool) => own.includes(tool));
  });
  return found === undefined ? null : textOf(found['agent_id']);
}

const without = (agents: readonly JsonObject[], ...taken: readonly string[]) =>
  agents.filter((agent) => !taken.includes(textOf(agent['agent_id'])));

/** Plans a repair; null for any other goal, and where no agent can edit and run. */
export function planRepair(prompt: Prompt): readonly JsonObject[] | null {
  if (prompt.wave !== 1 || !/\bfailing tests?\b/iu.test(prompt.goal)) return null;
  const { agents } = prompt;
  const engineer = findAgent(agents, 'edit_file', 'run_command');
  if (engineer === null) return null;
  const tester = findAgent(without(agents, engineer), 'run_command') ?? engineer;
  const readers = without(agents, engineer, tester);
  const reviewer =
    textOf(readers.find((agent) => agent['agent_id'] === 'reviewer')?.['agent_id']) ||
    findAgent(readers, 'read_file') ||
    tester;
  const given = prompt.knownInputs.includes('goal') ? ['goal'] : [];
  const task = (
    delegation_id: string,
    agent_id: string,
    task_description: string,
    criteria: readonly string[],
  ): JsonObject => ({
    delegation_id,
    agent_id,
    title: task_description,
    task_description: `This is a rehearsal. ${task_description}`,
    acceptance_criteria: criteria.map((description, index) => ({
      criterion_id: `${delegation_id}-c${index + 1}`,
      description,
    })),
    required_inputs: delegation_id === ids.mend ? given : [...given, ids.mend],
    provided_inputs: given,
    depends_on: delegation_id === ids.mend ? [] : [ids.mend],
    produces: [],
  });
  return [
    task(ids.mend, engineer, 'Mend the code that the failing test shows.', ['The tests pass.']),
    task(ids.test, tester, 'Run all tests.', [
      'All tests pass where the change is.',
      'No test was changed.',
    ]),
    task(ids.review, reviewer, 'Read the change.', ['The change was read.']),
  ];
}

/** Returns the next call of an agent of the repair; null when only its output is left, and for all other agents. */
export function stepRepair(request: MessagesRequest, prompt: Prompt): ContentReply | null {
  const steps = listSteps(prompt);
  const call = steps[countCalls(request)];
  if (call === undefined || call === null) return null;
  return request.tools.some((tool) => tool['name'] === call.name) ? { tool_use: [call] } : null;
}

interface Call {
  readonly name: string;
  readonly input: JsonObject;
}

function listSteps(prompt: Prompt): readonly (Call | null)[] {
  const runs: Call = { name: 'run_command', input: testCommand };
  const searches: Call = { name: 'search_files', input: subtraction };
  switch (textOf(prompt.delegation['delegation_id'])) {
    case ids.mend: {
      const { path, line } = readMatch(prompt.toolResults);
      const wrong = line.replace(' - ', ' * ');
      const edit = (old_string: string, new_string: string): Call | null =>
        path === '' ? null : { name: 'edit_file', input: { path, old_string, new_string } };
      const reads = path === '' ? null : { name: 'read_file', input: { path } };
      const right = line.replace(' - ', ' + ');
      return [searches, reads, edit(line, wrong), runs, edit(wrong, right), runs];
    }
    case ids.test:
      return [runs];
    case ids.review:
      return [{ name: 'search_files', input: { pattern: String.raw`return \w+ \+ \w+;` } }];
    default:
      return [];
  }
}

/** Reads the first match of the search, `path:line: text`. */
function readMatch(results: readonly string[]): { readonly path: string; readonly line: string } {
  const [, path = '', line = ''] =
    /^(\S+?):\d+:\s+(return \w+ - \w+;)/mu.exec(results[0] ?? '') ?? [];
  return { path, line };
}

function countCalls(request: MessagesRequest): number {
  return request.messages.reduce(
    (sum, { blocks }) => sum + blocks.filter(({ type }) => type === 'tool_use').length,
    0,
  );
}

/** Fields of the output of an agent of the repair: its evidence is the command, or the search. Null for all others. */
export function reportRepair(prompt: Prompt): JsonObject | null {
  const steps = listSteps(prompt);
  const last = steps.at(-1);
  if (last === undefined) return null;
  const result = prompt.toolResults.at(-1) ?? '';
  const isDone =
    prompt.toolResults.length === steps.length &&
    (last?.name !== 'run_command' || result.includes('exit code 0'));
  const edited = steps.filter((step) => step?.name === 'edit_file' && isDone);
  const effects = [...edited.slice(0, 1).map((step) => textOf(step?.input['path'])), ...ran(steps)];
  const criteria = objectsOf(prompt.delegation['acceptance_criteria']);
  return {
    status: 'completed',
    effects_claimed: prompt.toolResults.length === steps.length ? effects : [],
    coverage: {
      criteria_met: isDone ? criteria.map((one) => meet(one, last?.name ?? '')) : [],
      criteria_unmet: isDone
        ? []
        : criteria.map(({ criterion_id }) => ({ criterion_id, reason: 'The tests do not pass.' })),
    },
  };
}

function ran(steps: readonly (Call | null)[]): readonly string[] {
  return steps.some((step) => step?.name === 'run_command') ? [testCommand.argv.join(' ')] : [];
}

function meet(criterion: JsonObject, tool: string): JsonObject {
  const isAboutTests = textOf(criterion['description']) === 'No test was changed.';
  return {
    criterion_id: criterion['criterion_id'],
    evidence: isAboutTests ? 'No file of test/ differs.' : `The result of ${tool}.`,
    where: isAboutTests ? { kind: 'unchanged', value: 'test' } : { kind: 'tool', value: tool },
  };
}
