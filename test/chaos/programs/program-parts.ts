import type { WrittenDelegation } from '../../../contracts/delegation.ts';
import type { Reply, ScriptedRequest } from '../../../rehearsal/script.ts';
import { delegates, gives, members, taskCriterion, teamWork } from '../../support/scripted-team.ts';
import { triadWork } from '../../support/scripted-triad.ts';
import { completed, question, work } from '../../support/scripted-work.ts';
import { countReplies } from '../conversation.ts';
import { asksFirst, completedAsTold } from '../runs/reference-run.ts';
import type { Asking } from '../runs/reference-run.ts';

/** Kind of delegation that programs are made of. */
interface ProgramPart {
  readonly plan: (id: string, first: string) => WrittenDelegation;
  /** Reply to a call of the delegation; for a team, to one of its leader and members. */
  readonly reply: (id: string, request: ScriptedRequest) => Reply;
  /** The question that it asks. If undefined, none. */
  readonly asking?: (id: string) => Asking;
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

/** Agent of high risk that `writesApproved` needs. */
export const riskyAgent = 'builder';

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
  approved: { plan: (id) => work(id, { agent_id: riskyAgent }), reply: writesApproved },
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
} as const satisfies Record<string, ProgramPart>;

export type PartKind = keyof typeof programParts;

export const partKinds: readonly Exclude<PartKind, 'agent'>[] = [
  'reader',
  'asker',
  'writer',
  'approved',
  'disputer',
  'threaded',
  'triad',
  'team',
];

/** Returns a part by its kind, with every field of its type. */
export function partOf(kind: PartKind): ProgramPart {
  return programParts[kind];
}
