/** Package `planwave/testing`: a scripted model, and assertions about runs. */
import assert from 'node:assert/strict';
import { startRehearsalServer, type RehearsalServer } from '../rehearsal/server/server.ts';
import type { ScriptRule } from '../rehearsal/script.ts';
import type { RunOutcome } from './create-planwave.ts';

export type { RecordedCall, Reply, RuleMatch, ScriptRule } from '../rehearsal/script.ts';

/** Model that answers as its script says, and by the rules of the rehearsal model where the script says nothing. */
export interface ScriptedModel extends Pick<
  RehearsalServer,
  'calls' | 'script' | 'reset' | 'close'
> {
  /** Variables for a worker that is to call this model. */
  readonly env: Readonly<Record<'ANTHROPIC_API_KEY' | 'ANTHROPIC_BASE_URL', string>>;
}

/** Starts a scripted model on a free port of this machine. It costs nothing. */
export async function startScriptedModel(
  rules: readonly ScriptRule[] = [],
): Promise<ScriptedModel> {
  const server = await startRehearsalServer({ port: 0, thinkMs: 0 });
  server.script(rules);
  const env = { ANTHROPIC_BASE_URL: server.url, ANTHROPIC_API_KEY: 'rehearsal' };
  return { ...server, env };
}

/** Asserts that a run is completed and that each of its criteria is met or waived. */
export function assertCompleted(outcome: RunOutcome<unknown>): void {
  const open = (outcome.result?.criteria ?? []).filter(
    ({ state }) => state !== 'met' && state !== 'waived',
  );
  const { status, reason } = outcome;
  assert.deepEqual({ status, reason, open }, { status: 'completed', reason, open: [] });
}

/** Asserts that a model was called at most so often. */
export function assertCallsAtMost(model: Pick<ScriptedModel, 'calls'>, most: number): void {
  const { length } = model.calls();
  assert.ok(length <= most, `expected at most ${most} model calls, found ${length}`);
}
