import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { WrittenDelegation } from '../../../contracts/delegation.ts';
import type { Reply, ScriptedRequest } from '../../../rehearsal/script.ts';
import { delegates, gives, members, taskCriterion, teamWork } from '../../support/scripted-team.ts';
import { triadWork } from '../../support/scripted-triad.ts';
import { completed, question, work } from '../../support/scripted-work.ts';
import { countReplies } from '../conversation.ts';
import { asksFirst, completedAsTold } from '../runs/reference-run.ts';
import type { Asking } from '../runs/reference-run.ts';

/** Whether agents' commands can be confined on this machine. */
export interface PartPlace {
  readonly hasSandbox: boolean;
}

/** Kind of delegation that programs are made of. */
interface ProgramPart {
  readonly plan: (id: string, first: string) => WrittenDelegation;
  /** Reply to a call of the delegation; for a team, to one of its leader and members. */
  readonly reply: (id: string, request: ScriptedRequest, place: PartPlace) => Reply;
  /** The question that it asks. If undefined, none. */
  readonly asking?: (id: string) => Asking;
  /** Files of the user's folder that it works on. If undefined, the run needs no such folder for it. */
  readonly files?: (id: string) => Readonly<Record<string, string>>;
  /** Lines of the front matter of an agent of its own. If undefined, it has a shipped one. */
  readonly agent?: readonly string[];
}

const criterionOf = (id: string): string => `${id}-done`;

const done = (id: string): Reply => ({ json: completed(criterionOf(id)) });

function costsOf(id: string): Asking {
  return {
    asked: question(`How many euros a month may ${id} cost?`, {
      expected_answer_format: 'number',
      default_answer: '120',
    }),
    answer: 120,
    tooLate: 9_000,
  };
}

/** Writes a file, replaces it by its last text, and claims it. Without a workspace of the user no file can be edited. */
function writes(id: string, { body }: ScriptedRequest): Reply {
  const path = `${id}.md`;
  const text = ['A draft.', 'The text.'][countReplies(body)];
  if (text === undefined) {
    return { json: { ...completed(criterionOf(id)), effects_claimed: [path] } };
  }
  return { tool_use: [{ name: 'write_file', input: { path, content: `# ${id}\n\n${text}\n` } }] };
}

/** Edits a file of the user's folder twice. An edit that is made once more leaves a line too many. */
function edits(id: string, { body }: ScriptedRequest): Reply {
  const path = `${id}.txt`;
  const line = ['one', 'two'][countReplies(body)];
  if (line === undefined) {
    return { json: { ...completed(criterionOf(id)), effects_claimed: [path] } };
  }
  const input = { path, old_string: 'end', new_string: `${line}\nend` };
  return { tool_use: [{ name: 'edit_file', input }] };
}

/** Runs a command that adds a line to a file of the user's folder. Where no sandbox works, the file is edited instead. */
function runs(id: string, { body }: ScriptedRequest, { hasSandbox }: PartPlace): Reply {
  if (countReplies(body) > 0) return done(id);
  const path = `${id}.log`;
  const edit = { path, old_string: 'begin', new_string: 'begin\none' };
  return {
    tool_use: [
      hasSandbox
        ? { name: 'run_command', input: { argv: ['sh', '-c', `echo one >> ${path}`] } }
        : { name: 'edit_file', input: edit },
    ],
  };
}

/** Calls a tool of an MCP server, which notes the text. Nobody can tell from outside whether a call took place. */
function calls(id: string, { body }: ScriptedRequest): Reply {
  if (countReplies(body) > 0) return done(id);
  return { tool_use: [{ name: outsideTool, input: { text: id } }] };
}

/** Writes a file as an agent of high risk, who needs an approval for it. */
function writesApproved(id: string, { body }: ScriptedRequest): Reply {
  const path = `${id}.md`;
  if (countReplies(body) > 0) {
    return { json: { ...completed(criterionOf(id)), effects_claimed: [path] } };
  }
  return { tool_use: [{ name: 'write_file', input: { path, content: `# ${id}\n` } }] };
}

function leads(id: string, { task, body }: ScriptedRequest): Reply {
  if (task?.leads !== true) return { json: completed(taskCriterion) };
  if (countReplies(body) > 0) return { json: completedAsTold(criterionOf(id), []) };
  return delegates(
    gives('researcher', 'Say what the law allows.', { name: 'law' }),
    gives('writer', 'Write it down.', { name: 'note', inputs: ['law'] }),
  );
}

/** Key of the fact about which a disputer contradicts its wave's last delegation. */
export const disputedKey = (id: string): string => `price-of-${id}`;

/** Facts that state a price under each key. */
export function stating(keys: readonly string[], value: string) {
  return keys.map((key) => ({
    key,
    value,
    statement: `It costs ${value}.`,
    confidence: 'high' as const,
  }));
}

/** Team of the run whose work is kept in a thread. */
export const threadTeam = 'backup-desk';

/** Tool of the campaign's MCP server, whose only argument is the text that the server notes. */
export const outsideTool = 'mcp__odd__echo';

/**
 * The kinds of delegation. The first one is the kind of each wave's first delegation; a program may use all others. A new
 * feature of runs, such as a mode, becomes a row here.
 */
export const programParts = {
  agent: { plan: (id) => work(id), reply: (id) => done(id) },
  reader: {
    plan: (id, first) =>
      work(id, { agent_id: 'researcher', depends_on: [first], required_inputs: [first] }),
    reply: (id, { body }) =>
      countReplies(body) === 0
        ? {
            tool_use: [{ name: 'load_detail', input: { detail_id: id.replace(/-p\d+$/u, '-p1') } }],
          }
        : done(id),
  },
  asker: {
    plan: (id) => work(id),
    reply: (id, { body }) => asksFirst(body, criterionOf(id), costsOf(id)),
    asking: costsOf,
  },
  writer: { plan: (id) => work(id, { agent_id: 'engineer' }), reply: writes },
  approved: {
    plan: (id) => work(id, { agent_id: 'approved' }),
    reply: writesApproved,
    agent: ['tools: write_file', 'risk_level: high'],
  },
  disputer: {
    plan: (id) => work(id),
    reply: (id) => ({
      json: { ...completed(criterionOf(id)), facts: stating([disputedKey(id)], '20') },
    }),
  },
  threaded: { plan: (id) => teamWork(id, { team_id: threadTeam }), reply: leads },
  // What members put into their spec is the rehearsal's own, which looks at nothing but the request.
  triad: { plan: (id) => triadWork(id, 'consensus'), reply: () => ({ pass: true }) },
  team: {
    plan: (id) => teamWork(id, { members: members('researcher', 'writer') }),
    reply: leads,
  },
  editor: {
    plan: (id) => work(id, { agent_id: 'editor' }),
    reply: edits,
    files: (id) => ({ [`${id}.txt`]: 'begin\nend\n' }),
    agent: ['tools: edit_file'],
  },
  runner: {
    plan: (id) => work(id, { agent_id: 'engineer' }),
    reply: runs,
    files: (id) => ({ [`${id}.log`]: 'begin\n' }),
  },
  caller: {
    plan: (id) => work(id, { agent_id: 'caller' }),
    reply: calls,
    agent: [`tools: ${outsideTool}`],
  },
} as const satisfies Record<string, ProgramPart>;

export type PartKind = keyof typeof programParts;

export const partKinds: readonly PartKind[] = [
  'reader',
  'asker',
  'writer',
  'approved',
  'disputer',
  'threaded',
  'triad',
  'team',
];

/** Kinds that act on more than the run's own files. They are chosen apart, so that the other programs of a seed stay. */
export const outsideKinds = ['editor', 'runner', 'caller'] as const satisfies readonly PartKind[];

/** Returns a part by its kind, with every field of its type. */
export function partOf(kind: PartKind): ProgramPart {
  return programParts[kind];
}

/**
 * Writes the files of the agents that these kinds have of their own.
 *
 * @returns the folder, the same for the same kinds; undefined when they have none.
 */
export function provideAgents(home: string, kinds: readonly PartKind[]): string | undefined {
  const own = [...new Set(kinds)].filter((kind) => partOf(kind).agent !== undefined).toSorted();
  if (own.length === 0) return undefined;
  const folder = join(home, `agents-of-${own.join('-')}`);
  mkdirSync(folder, { recursive: true });
  for (const kind of own) {
    const matter = [`name: ${kind}`, 'description: Acts.', ...(partOf(kind).agent ?? [])];
    writeFileSync(join(folder, `${kind}.md`), `---\n${matter.join('\n')}\n---\n\nYou act.\n`);
  }
  return folder;
}
