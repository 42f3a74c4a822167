import { ApplicationFailure, setHandler } from '@temporalio/workflow';
import type { OpenRunResult } from '../../contracts/activity-types.ts';
import type { LoneWaveResult, WaveOrder } from '../../contracts/planner-wave.ts';
import type { WaveView } from '../../contracts/views.ts';
import { reserveForWave, openBudget } from '../../core/budget/resolve-budget.ts';
import { checkPlan } from '../../core/plan/check-plan.ts';
import { noUsage } from '../../core/usage/add-usage.ts';
import { finishAlone } from '../shared/finish-alone.ts';
import { waveQuery, waveStatusQuery } from '../shared/messages.ts';
import { registerRootHandlers } from '../shared/root-handlers.ts';
import { RootHost } from '../shared/root-host.ts';
import { runWave } from './run-wave.ts';
import { beginWaveWork, statusOf, viewBefore } from './wave-context.ts';

/** Runs a wave that was started by hand: it has its own inbox, record and result. */
export async function runWaveAlone(input: unknown): Promise<LoneWaveResult> {
  const host = new RootHost(null);
  registerRootHandlers(host);
  let view: (() => WaveView) | null = null;
  setHandler(waveQuery, () => view?.() ?? viewBefore(1), {
    description: 'The delegations and their states.',
  });
  const work = beginWaveWork();
  setHandler(waveStatusQuery, (asked) => statusOf(work, asked) ?? host.status(), {
    description: 'Phase, wave, waits and usage; with {"delegation_id":"…"} those of a delegation.',
  });
  const opened = await host.open('plannerWave', input);
  const order = orderOf(host, opened);
  refuseBadPlan(opened, order);
  // The workflow itself is the current wave.
  host.state.wave_workflow_id = host.runId;
  host.state.wave_at_work = order.wave;
  const wave = await host.stoppable(() =>
    runWave(
      order,
      {
        control: host.control,
        superior: host,
        work,
        onPlanned: async (progress) => host.showPlan(progress),
        onView(changed) {
          view = changed;
          host.refresh();
        },
      },
      opened.plan,
    ),
  );
  host.state.wave_workflow_id = null;
  return { ...wave, ...(await finishAlone(host, wave)) };
}

function orderOf(host: RootHost, opened: OpenRunResult): WaveOrder {
  const { registry_ref, record_ref, agents, limits, criteria, known_inputs } = opened;
  const budget = reserveForWave(openBudget(opened.budget), noUsage);
  return {
    run_id: host.runId,
    wave: 1,
    waves_left: 0,
    registry_ref,
    record_ref,
    agents,
    limits,
    budget,
    criteria,
    known_inputs,
    delegation_ids: [],
    fingerprints: {},
    stale: [],
    amendments: [],
    news: [],
    use_defaults: opened.use_defaults,
    ...(opened.notes === true && { notes: true }),
    autonomy: opened.autonomy,
    ...(opened.verify !== undefined && { verify: opened.verify }),
    triads: opened.triads,
    ...(opened.changes !== undefined && { changes: opened.changes }),
    teams: opened.teams,
    models: opened.models,
    facts_total: 0,
    answered_questions: [],
  };
}

/** Refuses an invalid typed plan. It goes back to the person, not to the planner. */
function refuseBadPlan({ plan }: OpenRunResult, order: WaveOrder): void {
  if (plan === null) return;
  const faults = checkPlan(plan, order);
  if (faults.length === 0) return;
  const lines = faults.map(({ path, reason, hint }) => `${path}: ${reason} ${hint}`);
  throw ApplicationFailure.create({
    type: 'InvalidInput',
    nonRetryable: true,
    message: `The delegations can't be carried out:\n${lines.join('\n')}`,
    details: [faults],
  });
}
