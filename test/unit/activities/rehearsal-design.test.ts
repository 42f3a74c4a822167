import type { z } from 'zod';
import { createAnthropicClient } from '../../../activities/adapters/anthropic/anthropic-client.ts';
import { readShape } from '../../../activities/artifacts/read-artifact.ts';
import type {
  CoordinationPlan,
  PlanFinding,
  PlanOperation,
} from '../../../contracts/coordination-plan.ts';
import {
  BestPractices,
  ConversationSummary,
  DesignBrief,
  DesignChange,
  DesignCheckpoints,
  DesignFiles,
  DesignInstructions,
  DesignReview,
  DesignRoster,
  DesignSequence,
  DoerConsultation,
  PocIntegration,
  PocRecommendation,
  TechnologyResearch,
} from '../../../contracts/design.ts';
import type {
  DesignMaterial,
  DesignPrompt,
  DesignReplyOutline,
} from '../../../contracts/design.ts';
import type { DesignStageName } from '../../../contracts/names.ts';
import {
  assemblePlan,
  operationsOfPractices,
  operationsOfProofs,
} from '../../../core/design/assemble-plan.ts';
import { changePlan } from '../../../core/design/change-plan.ts';
import { checkCoordinationPlan } from '../../../core/design/check-plan-file.ts';
import { startRehearsalServer } from '../../../rehearsal/server/server.ts';
import type { RehearsalServer } from '../../../rehearsal/server/server.ts';
import { summariseAgent } from '../../../activities/run-record/load-registry.ts';
import { agents, createBench } from './bench.ts';
import type { Bench } from './bench.ts';

/** A whole design as the rehearsal model plays it, through the real prompts, adapter, SDK and HTTP. */
let server: RehearsalServer;

beforeAll(async () => {
  server = await startRehearsalServer({ port: 0, thinkMs: 0, scriptable: true });
});
afterAll(() => server.close());

const created_at = 1_727_539_200;

/** A design that is played stage by stage. */
class PlayedDesign {
  readonly materials: DesignMaterial[] = [];
  plan: CoordinationPlan | null = null;
  readonly bench: Bench;

  constructor(bench: Bench) {
    this.bench = bench;
  }

  async play<T>(
    stage: DesignStageName,
    schema: z.ZodType<T>,
    changes: Partial<DesignPrompt> = {},
  ): Promise<{ value: T; outline: DesignReplyOutline }> {
    const { bench, plan } = this;
    const prompt: DesignPrompt = {
      kind: 'design',
      stage,
      record_ref: bench.record_ref,
      materials: this.materials,
      plan_ref: plan === null ? null : await bench.store.put(JSON.stringify(plan)),
      subject: null,
      findings: [],
      requested_change: null,
      amendments: [],
      ...changes,
    };
    const { reply } = await bench.turn({
      agent_id: 'writer',
      stage,
      append: [{ type: 'prompt', prompt }],
    });
    if (reply.type !== 'output' || reply.outline.shape !== 'design') {
      throw new Error(`expected a reply of a design, got ${JSON.stringify(reply)}`);
    }
    const outline = reply.outline.reply;
    this.materials.push({ stage, subject: prompt.subject, ref: outline.ref });
    return { value: await readShape(bench.store, outline.ref, schema, stage), outline };
  }

  change(operations: readonly PlanOperation[]): void {
    if (this.plan === null) throw new Error('no plan');
    const changed = changePlan(this.plan, operations);
    if (!changed.ok) throw new Error(JSON.stringify(changed.faults));
    this.plan = changed.plan;
  }
}

async function openDesign(goal: string, criteria: readonly string[] = []): Promise<PlayedDesign> {
  const model = createAnthropicClient({ apiKey: 'sk-test', baseUrl: server.url });
  const record = {
    goal,
    criteria: criteria.map((description, at) => ({
      criterion_id: `goal-${at + 1}`,
      description,
      state: 'open' as const,
      delegation_id: null,
      note: '',
    })),
  };
  return new PlayedDesign(await createBench({ deps: { model }, record }));
}

/** Plays all stages up to the plan with its proofs of concept. */
async function designUpToPlan(goal: string): Promise<PlayedDesign> {
  const design = await openDesign(goal);
  const summary = await design.play('interview', ConversationSummary);
  const brief = await design.play('brief', DesignBrief);
  const roster = await design.play('roster', DesignRoster);
  const sequence = await design.play('sequencing', DesignSequence);
  const files = await design.play('file_structure', DesignFiles);
  const checkpoints = await design.play('checkpoints', DesignCheckpoints);
  const instructions = await design.play('instructions', DesignInstructions);
  design.plan = assemblePlan({
    goal,
    summary: summary.value,
    brief: brief.value,
    roster: roster.value,
    sequence: sequence.value,
    files: files.value,
    checkpoints: checkpoints.value,
    instructions: instructions.value,
    created_at,
  });
  design.change((await design.play('design_change', DesignChange)).value.operations);
  for (const subject of brief.outline.technologies) {
    // oxlint-disable-next-line no-await-in-loop
    await design.play('research', TechnologyResearch, { subject });
  }
  await design.play('consultation', DoerConsultation, { subject: 'facts_agent' });
  const proofs = await design.play('poc_recommendation', PocRecommendation);
  const places = await design.play('poc_integration', PocIntegration);
  design.change(operationsOfProofs(design.plan, proofs.value, places.value, created_at + 100));
  const practices = await design.play('best_practices', BestPractices);
  design.change(operationsOfPractices(practices.value));
  return design;
}

const findingsOf = ({ plan }: PlayedDesign): PlanFinding[] =>
  plan === null
    ? []
    : checkCoordinationPlan(plan, { agents: agents.map((agent) => summariseAgent(agent)) });

it.each(['Compare three databases.', 'Write a test for our parser.', 'Warum ist der Himmel blau?'])(
  'gives a plan without findings, with a proof of concept before the work: %s',
  async (goal) => {
    const design = await designUpToPlan(goal);
    expect(findingsOf(design)).toEqual([]);
    const tasks = design.plan?.tasks ?? [];
    const proof = tasks.find(({ proof_of_concept }) => proof_of_concept !== null);
    expect(tasks).toHaveLength(4);
    expect(tasks.some(({ depends_on }) => depends_on.includes(proof?.task_id ?? ''))).toBe(true);
    const review = await design.play('design_review', DesignReview);
    expect(review.outline.findings).toEqual([]);
  },
);

it('makes each criterion of the user evidence of the last task', async () => {
  const design = await openDesign('Compare three databases.', ['One is chosen.']);
  const { value } = await design.play('checkpoints', DesignCheckpoints);
  expect(value.tasks.map(({ evidence }) => evidence.length)).toEqual([1, 1, 2]);
  expect(value.tasks.at(-1)?.evidence).toContainEqual({
    evidence_id: 'goal-1',
    description: 'One is chosen.',
  });
});

it('asks its one question in the interview, and not again once it is answered', async () => {
  const design = await openDesign('Compare three databases.');
  const first = await design.play('interview', ConversationSummary);
  expect(first.outline.user_questions).toHaveLength(1);
});

it('drafts a new agent where the goal is marked so', async () => {
  const { plan } = await designUpToPlan('Compare three databases. [new-agent]');
  expect(plan?.new_agents.map(({ agent_id }) => agent_id)).toEqual(['rehearsed-specialist']);
  expect(plan?.agents[0]?.agent_id).toBe('rehearsed-specialist');
});

it('drafts an agent that the user asks for later, and removes it when it is not needed any more', async () => {
  const design = await designUpToPlan('Compare three databases.');
  const drafts: (readonly string[] | undefined)[] = [];
  for (const requested_change of ['Ask a specialist. [new-agent]', 'Do without. [no-new-agent]']) {
    // oxlint-disable-next-line no-await-in-loop
    const { value } = await design.play('design_change', DesignChange, { requested_change });
    design.change(value.operations);
    expect(findingsOf(design)).toEqual([]);
    drafts.push(design.plan?.new_agents.map(({ agent_id }) => agent_id));
  }
  expect(drafts).toEqual([['rehearsed-specialist'], []]);
});

it('has a finding until the designer answers it', async () => {
  const design = await designUpToPlan('Compare three databases. [flawed]');
  const { findings } = (await design.play('design_review', DesignReview)).outline;
  expect(findings).toHaveLength(1);
  design.change((await design.play('design_change', DesignChange, { findings })).value.operations);
  expect((await design.play('design_review', DesignReview)).outline.findings).toEqual([]);
});

it('makes the change that the user asked for', async () => {
  const design = await designUpToPlan('Compare three databases.');
  const { value } = await design.play('design_change', DesignChange, {
    requested_change: 'Look at SQLite too.',
  });
  expect(JSON.stringify(value.operations)).toContain('Look at SQLite too.');
  design.change(value.operations);
  expect(findingsOf(design)).toEqual([]);
});

it('a repair answers the finding, and does not make the change of the user again', async () => {
  const design = await designUpToPlan('Compare three databases. [flawed]');
  const { findings } = (await design.play('design_review', DesignReview)).outline;
  const asked = { findings, requested_change: 'Look at SQLite too.' };
  const made = await design.play('design_change', DesignChange, { ...asked, change_made: true });
  expect(JSON.stringify(made.value.operations)).toContain('answers a finding');
  expect(JSON.stringify(made.value.operations)).not.toContain('SQLite');
});
