import { Context } from '@temporalio/activity';
import type {
  PlanTasksInput,
  PlanTasksResult,
  TeamSeat,
  RecordTeamInput,
  RecordTeamResult,
} from '../../contracts/team-run.ts';
import type { Delegation, Executor } from '../../contracts/delegation.ts';
import type { TeamMember } from '../../contracts/team.ts';
import { engineLimits } from '../../core/limits.ts';
import { resolveTeam } from '../../core/team/resolve-team.ts';
import { cutText } from '../../core/text/cut-text.ts';
import { listNames } from '../../core/text/list-names.ts';
import type { WavePlan } from '../../contracts/wave-plan.ts';
import type { AgentOutput } from '../../contracts/agent-output.ts';
import { bullets, cutLine, oneLine } from '../../core/text/markdown.ts';
import type { Activities } from '../../contracts/activity-types.ts';
import { defaultCriterion, storePlan } from '../run-record/compose-plan.ts';
import { readRegistry } from '../artifacts/read-artifact.ts';
import type { ArtifactStore } from '../ports/artifact-store.ts';
import { teamLimits } from '../projection/limits.ts';
import { treePaths } from '../projection/paths.ts';
import {
  findPlanned,
  loadTeam,
  type LoadedTask,
  type LoadedTeam,
} from '../projection/record-texts.ts';
import { describeEnd, renderBrought, renderTeam } from '../projection/render-team.ts';
import { placeOf } from '../tools/tool.ts';
import { whileCurrent, withHeartbeat } from '../attempt/heartbeat.ts';
import {
  type TeamDeps,
  createInvalidTeam,
  defineTeam,
  readTeamTask,
  openTeam,
  rewriteTask,
} from './read-team.ts';

type Task = PlanTasksInput['tasks'][number];

/**
 * Makes a delegation of each task that a leader gave out, in a plan of their own, so that members work as they do for a
 * wave. Repeating it gives the same.
 *
 * @throws InvalidInput when the team or a member does not exist.
 * @throws {ArtifactCorrupt} when a plan, the registry or a task is missing or damaged.
 * @throws {StoreUnavailable} when the store can't be read or written.
 */
async function planTasks(
  { store }: Pick<TeamDeps, 'store'>,
  input: PlanTasksInput,
): Promise<PlanTasksResult> {
  const [{ delegation }, registry, texts] = await Promise.all([
    readTeamTask(store, input),
    readRegistry(store, input.registry_ref),
    Promise.all(input.tasks.map(({ task_ref }) => store.getText(task_ref))),
  ]);
  const definition = defineTeam(delegation.executor, registry.teams);
  const members = definition.members ?? [];
  const seats = resolveTeam(definition, delegation.agent_id, registry).members;
  const plan: WavePlan = {
    summary: `Tasks of the team that does ${delegation.delegation_id}.`,
    delegations: input.tasks.map((task, i) => {
      const at = members.findIndex(({ id }) => id === task.member_id);
      const member = members[at];
      const seat = seats[at];
      if (member === undefined || seat === undefined) throw noSuchMember(task, members);
      return toDelegation(task, texts[i] ?? '', { member, seat });
    }),
    needs_user_input: false,
    user_questions: [],
  };
  const { plan_ref, delegations } = await storePlan(store, plan);
  return { plan_ref, delegations };
}

function toDelegation(
  task: Task,
  task_description: string,
  { member, seat }: { readonly member: TeamMember; readonly seat: TeamSeat },
): Delegation {
  const { delegation_id, title, inputs } = task;
  const { triad } = member;
  const needed = ['goal', ...inputs];
  // A triad works on a section for each criterion, so that has to say what is wanted.
  const description =
    triad === undefined
      ? defaultCriterion
      : cutText(task_description, engineLimits.criterionCharsMax);
  return {
    delegation_id,
    agent_id: seat.agent_id,
    title,
    task_description,
    acceptance_criteria: [{ criterion_id: 'c1', description }],
    required_inputs: needed,
    provided_inputs: needed,
    depends_on: [],
    produces: [],
    executor: executorOf(member),
  };
}

function executorOf({ triad, team_id }: TeamMember): Executor {
  if (triad !== undefined) return { kind: 'triad', ...triad };
  return team_id === undefined ? { kind: 'agent' } : { kind: 'team', team_id };
}

function noSuchMember({ member_id }: Task, members: readonly TeamMember[]): Error {
  const known = listNames(members.map(({ id }) => id));
  return createInvalidTeam(`it has no member ${listNames([member_id])}. Members are: ${known}`);
}

/**
 * Keeps how a team's work ended: in the store, and as a file for people. What its completed tasks changed comes into the
 * copy of its delegation. Repeating it gives the same.
 *
 * A team that ended without an answer of its leader hands on what its members brought. One that was blocked hands on
 * nothing, nor does one with guardrails for its output: what they hold back, or were never shown, would pass them so.
 *
 * @param assertCurrent throws when another worker may have the work: a suspended worker would overwrite the file of a
 * run that was started again.
 * @throws {ArtifactCorrupt} when a plan or a text that the report names is missing or damaged.
 * @throws {StoreUnavailable} when the store can't be read or written.
 */
export async function recordTeam(
  { store, projection, worktrees }: TeamDeps,
  { run_id, delegation_id, report, builds }: RecordTeamInput,
  assertCurrent: () => Promise<void>,
): Promise<RecordTeamResult> {
  if (builds !== undefined) {
    const listTasks = (isCompleted: boolean): string[] =>
      report.tasks
        .filter(({ status }) => (status === 'completed') === isCompleted)
        .map((task) => task.delegation_id);
    const builds_on = [...builds.on, ...listTasks(true)];
    const { record_ref } = builds;
    const signal = Context.current().cancellationSignal;
    const caller = { store, run_id, delegation_id, builds_on, record_ref, signal };
    const place = await placeOf(caller);
    await assertCurrent();
    await worktrees.gatherTasks(place, listTasks(false));
  }
  const report_ref = await store.put(JSON.stringify(report));
  // Read back, so that a later export renders the same text.
  const team = await loadTeam(store, report_ref);
  const found = await findOutput(store, team, delegation_id);
  const text = renderTeam(team, delegation_id);
  await projection.write(run_id, treePaths.team(delegation_id), text, { mayStill: assertCurrent });
  return { report_ref, ...found };
}

async function findOutput(
  store: ArtifactStore,
  team: LoadedTeam,
  delegationId: string,
): Promise<Omit<RecordTeamResult, 'report_ref'>> {
  const { report, output, plan } = team;
  if (report.status === 'blocked') return { output_ref: null };
  if (output !== null) return { output_ref: report.output_ref };
  if (report.setup.guardrails.output.length > 0) return { output_ref: null };
  const composed = composePartial(team, findPlanned(delegationId, plan));
  if (composed === null) return { output_ref: null };
  return { output_ref: await store.put(JSON.stringify(composed)), unanswered: true };
}

/** Limits of an output's shape. */
const reasonCharsMax = 1_000;
const listMax = { effects: 50, questions: 10, missing: 20, assumptions: 20 };

/**
 * Composes an output from the members' results when a team ended without an answer of its leader; it is marked as
 * partial. The engine writes it from the records, so it contains nothing that a member did not state.
 *
 * @returns null when there are no results.
 */
function composePartial(
  { report, tasks }: LoadedTeam,
  { acceptance_criteria }: Delegation,
): AgentOutput | null {
  const brought = tasks.filter((task) => task.output !== null || task.partial !== null);
  if (brought.length === 0) return null;
  const why = report.reason.trim() === '' ? `The team ended as ${report.status}.` : report.reason;
  const reason = cutText(`The team's leader gave no answer: ${oneLine(why)}`, reasonCharsMax);
  const outputs = tasks.flatMap(({ output }) => output ?? []);
  const joinLists = <T>(listOf: (output: AgentOutput) => readonly T[], max: number): T[] =>
    [...new Map(outputs.flatMap(listOf).map((one) => [JSON.stringify(one), one])).values()].slice(
      0,
      max,
    );
  return {
    compact_md: renderCompact(reason, tasks, brought),
    detailed_md: renderDetailed(reason, tasks),
    status: 'failed',
    blocking_questions: [],
    optional_questions: joinLists((one) => one.optional_questions, listMax.questions),
    missing_info_requests: joinLists((one) => one.missing_info_requests, listMax.missing),
    assumptions_made: joinLists((one) => one.assumptions_made, listMax.assumptions),
    // The members' facts are left out, because their leader has not checked them.
    facts: [],
    effects_claimed: joinLists((one) => one.effects_claimed, listMax.effects),
    coverage: {
      criteria_met: [],
      criteria_unmet: acceptance_criteria.map(({ criterion_id }) => ({ criterion_id, reason })),
    },
  };
}

function renderCompact(
  reason: string,
  tasks: readonly LoadedTask[],
  brought: readonly LoadedTask[],
): string {
  const missing = tasks.filter(({ status }) => status !== 'completed');
  return [
    `**Not whole.** ${reason}`,
    `What came:\n\n${bullets(brought.map(describeBrought), '')}`,
    `What is missing:\n\n${bullets(['the answer of the leader', ...missing.map(describeMissing)], '')}`,
  ].join('\n\n');
}

function describeBrought(task: LoadedTask): string {
  const { output, output_ref, partial, partial_ref } = task;
  const short =
    output === null
      ? `not whole: ${shorten(partial ?? '', `artifact ${partial_ref ?? ''}`)}`
      : shorten(output.compact_md, `artifact ${output_ref ?? ''}`);
  return `${nameOf(task)}: ${short}`;
}

function describeMissing(task: LoadedTask): string {
  return `${nameOf(task)}: ${shorten(describeEnd(task), 'the report')}`;
}

function nameOf({ delegation_id, member_id }: LoadedTask): string {
  return `\`${delegation_id}\` by ${member_id}`;
}

function shorten(text: string, whole: string): string {
  return cutLine(text, { charsMax: teamLimits.shortCharsMax, whole });
}

function renderDetailed(reason: string, tasks: readonly LoadedTask[]): string {
  return ['# What members brought, not whole', reason, ...tasks.map(renderSection)].join('\n\n');
}

function renderSection(task: LoadedTask): string {
  const { delegation_id, title, member_id, output_ref } = task;
  const whole = output_ref === null ? '' : `; whole: artifact ${output_ref}`;
  return [
    `## \`${delegation_id}\`: ${oneLine(title)}`,
    `*By ${member_id}; ${describeEnd(task)}${whole}*`,
    ...renderBrought(task, { depth: 2 }),
  ].join('\n\n');
}

/**
 * Creates the activities of a team: resolve its members, turn the leader's tasks into delegations, and record its
 * report.
 */
export function createTeamActivities(
  deps: TeamDeps,
): Pick<Activities, 'openTeam' | 'planTasks' | 'recordTeam' | 'rewriteTask'> {
  return {
    openTeam: (input) => withHeartbeat(() => openTeam(deps, input)),
    planTasks: (input) => withHeartbeat(() => planTasks(deps, input)),
    recordTeam: (input) => whileCurrent((assertCurrent) => recordTeam(deps, input, assertCurrent)),
    rewriteTask: (input) => withHeartbeat(() => rewriteTask(deps, input)),
  };
}
