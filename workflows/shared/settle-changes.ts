import { CancellationScope } from '@temporalio/workflow';
import type { RunStatus } from '../../contracts/planner-run.ts';
import type { ApplyChangesResult, ProposedChanges } from '../../contracts/run-changes.ts';
import type { ChangesMode } from '../../contracts/run-settings.ts';
import { changesQuestion } from '../../core/workspace/changes-question.ts';
import { applyRunChanges, proposeChanges } from './activities.ts';
import type { RootHost } from './root-host.ts';
import { stopWhenCancelled } from './stop-when-cancelled.ts';
import { untilDone } from './until-done.ts';

/**
 * Brings the changes of a run's agents into the user's folder, once, at its end: by the mode of the input, or as the user
 * answers. Whatever the end, the record says what became of them.
 */
export async function settleChanges(host: RootHost, status: RunStatus): Promise<void> {
  const mode = host.state.opened?.changes;
  if (mode === undefined || mode === 'direct') return;
  await CancellationScope.nonCancellable(async () => {
    const place = { run_id: host.runId, record_ref: await host.settleRecord() };
    const park = (reason: string): Promise<void> => host.park(reason);
    const proposed = await untilDone(
      () => proposeChanges.executeWithOptions({ summary: 'sum up the changes' }, [place]),
      park,
    );
    if (proposed === null) return;
    const hasResult = status === 'completed' || status === 'finished_unmet';
    const choice = hasResult ? await choose(host, mode, proposed) : 'keep';
    const settled: ApplyChangesResult =
      choice === 'keep'
        ? { state: 'kept', note: proposed.obstacle }
        : await untilDone(
            () =>
              applyRunChanges.executeWithOptions({ summary: `${choice} the changes` }, [
                {
                  ...place,
                  commit: choice === 'commit',
                  goal_title: host.state.goal_title,
                  at: host.state.started_at,
                },
              ]),
            park,
          );
    const { can_commit: _can, patch_shown: _shown, obstacle: _obstacle, ...sums } = proposed;
    host.record.add({ type: 'changes_settled', changes: { ...sums, ...settled } });
  });
}

type Choice = 'apply' | 'commit' | 'keep';

/** A person who does not answer, and one who stops the run, keeps the changes. */
async function choose(
  host: RootHost,
  mode: Exclude<ChangesMode, 'direct'>,
  proposed: ProposedChanges,
): Promise<Choice> {
  if (mode !== 'ask') return mode;
  if (proposed.obstacle !== '') return 'keep';
  const { wave } = host.state;
  const answers = await stopWhenCancelled(() =>
    host.stoppable(() =>
      host.ask({
        type: 'questions',
        escalation_id: `changes-${wave}`,
        from: host.runId,
        kind: 'changes',
        wave,
        delegation_id: null,
        agent_id: null,
        questions: [changesQuestion(proposed)],
      }),
    ),
  );
  const answer = answers?.[0];
  if (answer === undefined || answer.loop) return 'keep';
  return answer.answer === 'apply' || answer.answer === 'commit' ? answer.answer : 'keep';
}
