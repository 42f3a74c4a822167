import { fileURLToPath } from 'node:url';
import { loadAgents } from '../../../activities/adapters/agent-files.ts';
import { shippedTools } from '../../support/file-workspaces.ts';
import { withoutTools } from '../../../activities/run-record/load-registry.ts';
import { listWorkspaceTools } from '../../../activities/tools/tool.ts';
import type { AgentOutput } from '../../../contracts/agent-output.ts';
import type { Delegation } from '../../../contracts/delegation.ts';
import type { DetailEntry, RunRecord } from '../../../contracts/run-record.ts';
import { noUsage } from '../../../core/usage/add-usage.ts';
import { registryOf } from '../../support/registry-of.ts';
import { sayText } from '../../support/scripted-model.ts';
import { createBench, delegationOf, outputOf, recordOf } from './bench.ts';
import { factOf } from './prompt-bench.ts';
import type { TriadPlan } from '../../../contracts/triad.ts';
import type { WaveDecision } from '../../../contracts/wave-plan.ts';

/**
 * A small run as it might be: a design was made and reviewed in the first wave, and the second one mends it. Every prompt
 * that a run has is rendered from it.
 */

export const designTriad: TriadPlan = {
  type: 'dialectic',
  reason: 'Three teams build on it.',
  members: [
    { name: 'ann', role: 'proposer', agent_id: 'engineer' },
    { name: 'cid', role: 'critic', agent_id: 'reviewer', lens: 'data protection' },
    { name: 'syd', role: 'synthesizer', agent_id: 'writer' },
  ],
  sections: [
    { section_id: 'tables', text: 'Which tables there are.' },
    { section_id: 'keys', text: 'How a list is found.' },
  ],
};

const mend: Delegation = delegationOf({
  delegation_id: 'design-mended',
  agent_id: 'engineer',
  title: 'Mend the design',
  task_description:
    'Mend the storage design by the findings of its review. Choose the type of the keys. Give the whole design again, at most 600 words.',
  acceptance_criteria: [
    {
      criterion_id: 'findings-mended',
      description: 'Every blocker and major finding is mended, or answered with a reason.',
    },
  ],
  required_inputs: ['goal', 'storage-design', 'design-review'],
  provided_inputs: ['goal', 'storage-design', 'design-review'],
  produces: ['storage-design'],
});

const check: Delegation = delegationOf({
  delegation_id: 'mended-check',
  agent_id: 'reviewer',
  title: 'Check the mended design',
  task_description: 'Check the mended design against the findings of the review.',
  acceptance_criteria: [
    { criterion_id: 'mending-checked', description: 'Each finding has a verdict.' },
  ],
  required_inputs: ['design-mended', 'design-review'],
  provided_inputs: ['design-review'],
  depends_on: ['design-mended'],
  produces: [],
});

const design: AgentOutput = outputOf({
  detailed_md:
    "# Storage design\n\n## Tables\n\n```sql\nCREATE TABLE item (list_id INT, name TEXT, CHECK (name <> ''));\n```\n\n## Keys\n\nA list is found by its number.",
  compact_md: 'Two tables, `list` and `item`. A list is found by its number.',
  facts: [
    {
      key: 'database',
      value: 'SQLite',
      statement: 'The lists are kept in SQLite.',
      confidence: 'high',
    },
  ],
  missing_info_requests: [
    { input: 'number of users', why: 'It decides whether one file is enough.' },
  ],
  assumptions_made: [{ statement: 'One household has at most ten lists.', confidence: 'medium' }],
  coverage: {
    criteria_met: [
      {
        criterion_id: 'designed',
        evidence: 'Sections "Tables" and "Keys".',
        where: { kind: 'heading', value: 'Tables' },
      },
    ],
    criteria_unmet: [],
  },
});

const review: AgentOutput = outputOf({
  detailed_md:
    '# Review\n\n1. **major**, section "Keys": a number that counts up tells strangers how many lists there are.',
  compact_md: 'Accept with changes: one major finding.',
  coverage: {
    criteria_met: [
      {
        criterion_id: 'reviewed',
        evidence: 'Finding 1.',
        where: { kind: 'quote', value: 'a number that counts up' },
      },
    ],
    criteria_unmet: [{ criterion_id: 'findings-mended', reason: 'Finding 1 is open.' }],
  },
});

const notYet: WaveDecision = {
  wave_compact:
    '## Known\n\nThe lists are kept in SQLite, in two tables.\n\n## Open\n\nKeys that can be counted.',
  wave_detailed: 'The review found one major fault.',
  planner_decision: {
    io_status: 'NOT_OK',
    not_ok_reasons: ['Finding 1 of the review is open.'],
    conflicts_resolved: [],
    next_actions: ['Have the author mend the keys, with the review at hand.'],
  },
  answer: null,
  facts: [],
  criteria_reopened: [],
  needs_user_input: false,
  user_questions: [],
};

const outcomeOf = (delegation_id: string, agent_id: string, output_ref: string) => ({
  delegation_id,
  agent_id,
  title: delegation_id === 'design' ? 'Design the storage' : 'Review the design',
  status: 'completed' as const,
  reason: '',
  criteria_met: [delegation_id === 'design' ? 'designed' : 'reviewed'],
  criteria_unmet: delegation_id === 'design' ? [] : ['findings-mended'],
  produces: delegation_id === 'design' ? ['storage-design'] : [],
  output_ref,
  loaded_details: [],
  turns: 1,
  usage: noUsage,
  executor: { kind: 'agent' as const },
});
const detailOf = (detail_id: string, title: string, output_ref: string): DetailEntry => ({
  detail_id,
  title,
  summary: title === 'Design the storage' ? design.compact_md : review.compact_md,
  tags: ['wave-1'],
  size: 150,
  output_ref,
});
export async function openScene() {
  const tools = shippedTools('nowhere');
  const shipped = await loadAgents([fileURLToPath(new URL('../../../agents', import.meta.url))]);
  // As in a run without a workspace.
  const agents = withoutTools(shipped, listWorkspaceTools(tools));
  const bench = await createBench({ scripts: [sayText('')], deps: { tools } });
  const put = (value: unknown): Promise<string> => bench.store.put(JSON.stringify(value));
  const team = {
    team_id: 'help-desk',
    description: 'Answers letters of customers.',
    members: [{ id: 'writer' }],
  };
  const [registry_ref, design_ref, review_ref, decision_ref] = await Promise.all([
    bench.store.put(registryOf(agents, [team])),
    put(design),
    put(review),
    put(notYet),
  ]);
  const record: RunRecord = {
    ...recordOf(registry_ref),
    goal: 'Design how a shopping-list app keeps its lists.',
    constraints: ['It works without a network.'],
    instructions: ['Write for a team of two.'],
    waves: [
      {
        wave: 1,
        status: 'decided',
        plan_ref: null,
        outcomes: [
          outcomeOf('design', 'engineer', design_ref),
          outcomeOf('design-review', 'reviewer', review_ref),
        ],
        decision_ref,
        usage: noUsage,
        planned_at: 1,
        done_at: 2,
        shown: null,
      },
    ],
    criteria: [
      {
        criterion_id: 'findings-mended',
        description: 'Every blocker and major finding is mended, or answered with a reason.',
        state: 'open',
        delegation_id: 'design-review',
        note: 'Finding 1 is open.',
      },
    ],
    details: [
      detailOf('design', 'Design the storage', design_ref),
      detailOf('storage-design', 'Design the storage', design_ref),
      detailOf('design-review', 'Review the design', review_ref),
    ],
    facts: [
      factOf(1, { key: 'database', value: 'SQLite', statement: 'The lists are kept in SQLite.' }),
      factOf(2, { statement: 'One household has at most ten lists.', is_assumption: true }),
    ],
    answered_questions: [
      {
        question_id: 'q1',
        text: 'May lists be shared between households?',
        delegation_id: 'design',
        answer: 'No',
        answered_by: 'user',
        source_refs: [],
        answered_at: 5,
        answer_ref: null,
        question: null,
      },
    ],
  };
  const record_ref = await put(record);
  const planOf = (...delegations: readonly Delegation[]): Promise<string> =>
    put({ summary: 'Mend it.', delegations, needs_user_input: false, user_questions: [] });
  return {
    bench,
    put,
    registry_ref,
    record_ref,
    design_ref,
    review_ref,
    planOf,
    plan_ref: await planOf(mend, check),
    mend,
  };
}

export type Scene = Awaited<ReturnType<typeof openScene>>;
