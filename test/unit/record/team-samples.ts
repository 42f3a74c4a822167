import type { AgentOutput } from '../../../contracts/agent-output.ts';
import type { Delegation } from '../../../contracts/delegation.ts';
import type { DelegationOutcome } from '../../../contracts/delegation-run.ts';
import type { TaskRecord, TeamReport } from '../../../contracts/team-run.ts';
import {
  failedTask,
  taskRecord,
  teamReport,
  teamSeat,
  teamSetup,
} from '../../support/team-fixtures.ts';
import type { Harness } from './harness.ts';
import { delegation, met, outcome, output, plan } from './samples.ts';
import { offer, offerOutcome, offerOutput, offerTriad, reportOf } from './triad-samples.ts';
import { boundTeam, sumTeamUsage } from '../../../core/team/team-state.ts';

/** A delegation that a team does: a researcher, a triad, and a team with a name. */
export const design: Delegation = delegation('design', {
  agent_id: 'leader',
  task_description: 'Design the hall.\n\n# For three machines',
  executor: {
    kind: 'team',
    members: [
      { id: 'researcher' },
      { id: 'sellers', triad: offerTriad },
      { id: 'testers', team_id: 'lab' },
    ],
  },
});

export const members = [
  teamSeat('researcher'),
  teamSeat('sellers', {
    executor: { kind: 'triad', type: 'dialectic' },
    executor_id: 'triad:dialectic:researcher,writer',
    agent_id: 'writer',
  }),
  teamSeat('testers', {
    executor: { kind: 'team', team_id: 'lab' },
    executor_id: 'team:lab',
    agent_id: 'leader',
    enabled: false,
  }),
];

const designOutput = output({
  compact_md: 'The hall, in short.',
  detailed_md: '# The hall\n\nAt length.\n',
  coverage: met('design-1'),
});

/** Stores what a leader asked for, and what came of it. @param name As the leader called it. */
export async function storedTask(
  harness: Harness,
  name: string,
  brought: AgentOutput | string | null,
  over: Partial<TaskRecord> = {},
): Promise<TaskRecord> {
  const id = over.delegation_id ?? `design.${name}`;
  const asked = {
    ...delegation(id),
    acceptance_criteria: [{ criterion_id: 'c1', description: 'It is done.' }],
    required_inputs: ['goal', 'design.d1'.padEnd(130, 'x')],
  };
  const task =
    brought === null || typeof brought === 'string'
      ? failedTask(name, 'timed_out')
      : taskRecord(name);
  return {
    ...task,
    delegation_id: id,
    plan_ref: await harness.put(plan(asked)),
    output_ref: brought === null || typeof brought === 'string' ? null : await harness.put(brought),
    partial_ref: typeof brought === 'string' ? await harness.deps.store.put(brought) : null,
    ...over,
  };
}

/** A task that a triad did, which left the prices disputed. */
export async function triadTask(harness: Harness, id: string): Promise<TaskRecord> {
  const planRef = await harness.put(plan({ ...offer, delegation_id: id }));
  const output_ref = await harness.put(offerOutput);
  const reports = [await reportOf(harness, 'execute', {}, { output_ref })];
  const {
    executor,
    usage,
    output_ref: told,
  } = await offerOutcome(harness, planRef, reports, {}, id);
  return taskRecord('d2', {
    delegation_id: id,
    member_id: 'sellers',
    plan_ref: planRef,
    output_ref: told,
    usage,
    executor,
  });
}

/** A task that a team did, with a triad of its own. */
export async function teamTask(harness: Harness, id: string): Promise<TaskRecord> {
  const plan_ref = await harness.put(plan({ ...design, delegation_id: id }));
  const nested = teamReport({
    setup: teamSetup({ team_id: 'lab', members: [teamSeat('sellers', members[1])] }),
    plan_ref,
    tasks: [await triadTask(harness, `${id}.d1`)],
    output_ref: await harness.put(designOutput),
  });
  const { report_ref, output_ref } = await harness.recordTeam({
    run_id: 'my-run',
    delegation_id: id,
    report: nested,
  });
  const team = boundTeam(nested, report_ref);
  return taskRecord('d3', {
    delegation_id: id,
    member_id: 'testers',
    plan_ref,
    output_ref,
    usage: sumTeamUsage(team),
    executor: { kind: 'team', work: team },
  });
}

/** How `design` ended: done by its leader, if nothing else is given. */
export async function designReport(
  harness: Harness,
  tasks: readonly TaskRecord[],
  over: Partial<TeamReport> = {},
): Promise<TeamReport> {
  return teamReport({
    setup: teamSetup({ members }),
    plan_ref: await harness.put(plan(design)),
    tasks,
    output_ref: await harness.put(designOutput),
    ...over,
  });
}

/** The outcome of `design`, recorded, as its delegation tells it. */
export async function designOutcome(
  harness: Harness,
  report: TeamReport,
  over: Partial<DelegationOutcome> = {},
): Promise<DelegationOutcome> {
  const { report_ref, output_ref } = await harness.recordTeam({
    run_id: 'my-run',
    delegation_id: 'design',
    report,
  });
  const team = boundTeam(report, report_ref);
  const done = report.status === 'done' ? designOutput : null;
  return outcome(harness, design, done, {
    output_ref,
    usage: sumTeamUsage(team),
    executor: { kind: 'team', work: team },
    ...over,
  });
}
