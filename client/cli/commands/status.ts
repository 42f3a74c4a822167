import type { Command } from 'commander';
import type { DelegationStatusView, RunPhase, StatusView } from '../../../contracts/views.ts';
import { ifFound, PlanwaveClientError } from '../../client-error.ts';
import type { PlanwaveClient } from '../../planwave-client.ts';
import type { Reading, RunEnd } from '../../read-view.ts';
import type { ActivityReading } from '../../read-work.ts';
import { type RunListing, formatSpent } from '../../run-listing.ts';
import { describeStuck, type StuckWorkflow } from '../../stuck-workflows.ts';
import type { UsageNow } from '../../usage-now.ts';
import { formatTime } from '../../format-time.ts';
import { CliError, exitCodes, type ExitCode } from '../cli-error.ts';
import {
  type CommandContext,
  type CommandResult,
  type CommandRunner,
  resultPath,
} from '../command-runner.ts';
import { describeStageCall } from '../follow/describe-activity.ts';
import { exitCodeOfEnd, toRunEndedEvent } from '../follow/follow-event.ts';
import { phaseTone } from '../follow/render-tree.ts';
import { describeOtherHome } from '../other-home.ts';
import { describeStoreWait, type StoreWait } from '../../store-waits.ts';
import { cleanLine, cleanLines } from '../terminal-text.ts';
import { describeCellsOf, describeTeamOf } from './task-table.ts';
import { describeGuarded } from '../../../core/plan/rule-of-two.ts';
import {
  describeMode,
  describePosition,
  describeVerification,
} from '../../../core/render/labels.ts';
import { commandText, formatLeastUsage, formatUsage } from '../../../core/text/format.ts';
import { readPlace, waveWorkflowId } from '../../../core/ids.ts';
import { listNames } from '../../../core/text/list-names.ts';
import { describeLoad } from '../../../core/run/run-place.ts';

export function registerStatus(command: Command, runner: CommandRunner): void {
  command.action(runner(showStatus));
}

async function showStatus(context: CommandContext, runId: string): Promise<CommandResult> {
  const { client } = await context.session();
  const work = runId.includes('/') ? await client.work(runId) : null;
  if (work !== null) return describePart(context, runId, work);
  try {
    const reading = await client.status(runId);
    // A view is what a worker recorded last; only the server knows how the workflow was closed since.
    const end = await readEnd(client, runId);
    if (reading.live) {
      const { view } = reading;
      const [stuck, used, waits, elsewhere, calls] = await Promise.all([
        client.stuck(runId),
        client.usageNow(view),
        readStoreWaits(client, runId),
        describeOtherHome(context, view.store),
        client.stageCalls(view),
      ]);
      const now = { stuck, used, end, waits, elsewhere, calls };
      return describeView(context, view, { source: 'worker', ...now });
    }
    return await describeLastKnown(context, client, { reading, end });
  } catch (error) {
    if (!(error instanceof PlanwaveClientError && error.code === 'not_found')) throw error;
    const stored = await context.deps.readStoredStatus?.(runId);
    if (stored === null || stored === undefined) {
      const wave = await readWaveOf(client, runId);
      if (wave === null) throw error;
      return describeLastKnown(context, client, { reading: wave, end: null });
    }
    const used: UsageNow = { usage: stored.usage, untold: [] };
    const known = { source: 'store', stuck: [], used, end: null } as const;
    const unknown = { waits: [], elsewhere: null, calls: [] };
    return describeView(context, stored, { ...known, ...unknown });
  }
}

interface Silence {
  readonly reading: Unanswered;
  readonly end: RunEnd | null;
}

type Unanswered = Extract<Reading<unknown>, { live: false }>;

/** Describes what the server knows while no worker answers. */
async function describeLastKnown(
  context: CommandContext,
  client: PlanwaveClient,
  { reading: { note, stuck, last_known }, end }: Silence,
): Promise<CommandResult> {
  const [waits, elsewhere] = await Promise.all([
    readStoreWaits(client, last_known.run_id),
    describeOtherHome(context, last_known.store),
  ]);
  const { exitCode, phase, reason } = closingOf(
    last_known.run_id,
    end,
    last_known.phase ?? last_known.execution,
  );
  const data = {
    source: 'server',
    note,
    stuck,
    store_waits: waits,
    ...last_known,
    phase,
    reason,
  };
  const notes = stuck.length === 0 ? [note] : stuckLines(context, stuck);
  const lines = [
    ...describeListing(context, data),
    ...reasonLines(context, reason, exitCode),
    ...notes,
    ...storeLines(context, { waits, elsewhere }),
  ];
  return { data, lines, exitCode };
}

/**
 * Reads the wave in which a delegation would work that no workflow has told of. Its state is not known while no worker
 * answers; the wave's is.
 *
 * @returns null when there is no such wave.
 * @throws CliError when the wave answers and has no such delegation.
 */
async function readWaveOf(client: PlanwaveClient, path: string): Promise<Unanswered | null> {
  const { run, wave: number, delegation } = readPlace(path, 'delegation');
  if (number === undefined || delegation === undefined) return null;
  const wave = waveWorkflowId(run, number);
  const reading = await ifFound(client.waveView(wave));
  if (reading?.live !== true) return reading;
  const ids = reading.view.delegations.map(({ delegation_id }) => delegation_id);
  const known = ids.length === 0 ? commandText('status', run) : `one of ${listNames(ids)}`;
  const cure = ids.includes(delegation) ? 'the same command again: its worker is back' : known;
  throw new CliError(
    'not_found',
    exitCodes.notFound,
    `${wave} tells of no delegation ${JSON.stringify(delegation)}. Try: ${cure}`,
  );
}

/** Reads what waits for a store; null when the server does not say, which must not hide the rest. */
async function readStoreWaits(
  client: PlanwaveClient,
  runId: string,
): Promise<readonly StoreWait[] | null> {
  try {
    return await client.storeWaits(runId);
  } catch {
    return null;
  }
}

/** Reads the end of a run; null also for one whose end is encrypted, of which the phase is known. */
async function readEnd(client: PlanwaveClient, runId: string): Promise<RunEnd | null> {
  try {
    return await client.result(runId);
  } catch (error) {
    if (error instanceof PlanwaveClientError && error.code === 'encrypted') return null;
    throw error;
  }
}

/** State of a run together with how its workflow was closed, which no worker may have recorded. */
interface Closing {
  readonly phase: string;
  /** Reason why it failed; empty for every other state. */
  readonly reason: string;
  readonly exitCode: ExitCode;
}

/** @param end null while the run works, and for a run that only the store knows */
function closingOf(run_id: string, end: RunEnd | null, phase: string): Closing {
  if (end === null) {
    const isUnmet = unmetPhases.has(phase);
    return { phase, reason: '', exitCode: isUnmet ? exitCodes.unmet : exitCodes.ok };
  }
  const { status, reason } = toRunEndedEvent({ run_id, phase }, end, '');
  return { phase: status, reason, exitCode: exitCodeOfEnd(end, status) };
}

/** Phases in which a run has ended without reaching its goal. */
const unmetPhases: ReadonlySet<string> = new Set<RunPhase>([
  'finished_unmet',
  'stopped',
  'abandoned',
  'failed',
]);

interface Known {
  readonly source: 'worker' | 'store';
  readonly stuck: readonly StuckWorkflow[];
  readonly used: UsageNow;
  readonly end: RunEnd | null;
  /** Activities that wait for the run's store; null when that is not known. */
  readonly waits: readonly StoreWait[] | null;
  /** Reason why the run's files are not found in the home of this shell, or null. */
  readonly elsewhere: string | null;
  /** Model calls of a design's stages at work. */
  readonly calls: readonly ActivityReading[];
}

function describeView(
  context: CommandContext,
  view: StatusView,
  { source, stuck, used, end, waits, elsewhere, calls }: Known,
): CommandResult {
  const { paint } = context;
  const note =
    source === 'store' ? 'The server no longer knows this run; this is what was stored.' : null;
  const { exitCode, phase, reason } = closingOf(view.run_id, end, view.phase);
  const position = [
    paint(phaseTone(phase), phase.replaceAll('_', ' ')),
    describePosition(view),
    describeLoad(view.load),
    describeUsed(used),
  ];
  const lines = [
    `${paint('strong', cleanLine(view.run_id))} · ${cleanLine(view.goal, 160)}`,
    position.filter((part) => part !== '').join(' · '),
    ...reasonLines(context, reason, exitCode),
    ...(view.mode === undefined ? [] : [`chosen: ${describeMode(view.mode)}`]),
    ...stuckLines(context, stuck),
    ...storeLines(context, { waits, elsewhere }),
    ...view.waiting_for.map((wait) => paint('attention', cleanLine(wait, 300))),
    ...(view.guarded ?? []).map((one) => cleanLine(describeGuarded(one), 600)),
    ...(view.history_notice === undefined ? [] : [paint('bad', view.history_notice)]),
    ...calls.map(describeStageCall),
    ...describeTeamOf(view.delegation),
    ...describeCellsOf(view.evaluation),
    ...(view.result_path === null ? [] : [`result: ${resultPath(context, view.result_path)}`]),
    ...(note === null ? [] : [note]),
  ];
  const known = { source, note, stuck, store_waits: waits, stage_calls: calls };
  const data = { ...known, ...view, phase, reason, usage_now: used };
  return { data, lines, exitCode };
}

/** The faults of a refused input stand one a line. */
function reasonLines({ paint }: CommandContext, reason: string, exitCode: ExitCode): string[] {
  return cleanLines(reason).map((line) => (exitCode === exitCodes.ok ? line : paint('bad', line)));
}

function describeUsed({ usage, untold }: UsageNow): string {
  return untold.length === 0 ? formatUsage(usage) : formatLeastUsage(usage);
}

/** Describes a delegation below a wave. */
function describePart(
  { paint }: CommandContext,
  path: string,
  work: DelegationStatusView,
): CommandResult {
  const { title, state, agent_id, turn, waiting_for, usage, verification } = work;
  const lines = [
    `${paint('strong', cleanLine(path))} · ${cleanLine(title, 160)}`,
    `${paint(phaseTone(state), state)} · ${cleanLine(agent_id)} · turn ${turn} · ${formatUsage(usage)}`,
    ...(verification === undefined ? [] : [cleanLine(describeVerification(verification))]),
    ...(waiting_for === '' ? [] : [paint('attention', cleanLine(waiting_for, 300))]),
    ...describeTeamOf(work),
  ];
  return { data: { source: 'worker', ...work }, lines };
}

function stuckLines({ paint }: CommandContext, stuck: readonly StuckWorkflow[]): string[] {
  return stuck.map((one) => paint('bad', cleanLine(describeStuck(one))));
}

/** Describes what waits for the run's store, and that this shell has another home. */
function storeLines(
  { paint }: CommandContext,
  { waits, elsewhere }: Pick<Known, 'waits' | 'elsewhere'>,
): string[] {
  return [
    ...(waits ?? []).map((wait) => paint('attention', cleanLine(describeStoreWait(wait), 1_000))),
    ...(elsewhere === null ? [] : [cleanLine(elsewhere, 1_000)]),
  ];
}

function describeListing({ paint }: CommandContext, run: RunListing): string[] {
  const parts = [
    paint(phaseTone(run.phase ?? ''), (run.phase ?? run.execution).replaceAll('_', ' ')),
    ...(run.wave === null ? [] : [`wave ${run.wave}`]),
    ...[describeLoad(run.load), formatSpent(run)].filter((text) => text !== ''),
    `started ${formatTime(run.started_at)} UTC`,
    ...(run.closed_at === null ? [] : [`ended ${formatTime(run.closed_at)} UTC`]),
  ];
  return [
    `${paint('strong', cleanLine(run.run_id))} · ${cleanLine(run.goal, 160)}`,
    parts.join(' · '),
    ...run.waiting_for.map((wait) => paint('attention', cleanLine(wait, 300))),
  ];
}
