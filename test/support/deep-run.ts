import type { AgentOutput } from '../../contracts/agent-output.ts';
import type { Delegation } from '../../contracts/delegation.ts';
import type { RunRecord } from '../../contracts/run-record.ts';
import type { Reply, ScriptedRequest, ScriptRule } from '../../rehearsal/script.ts';
import { blocked, completed, plan, question, work } from './scripted-work.ts';

/** Run of many waves, each of which builds on the one before. */
export interface DeepRun {
  readonly waves: number;
  /** Delegations of a wave, at least 2. */
  readonly width: number;
}

/** The user's own criterion: only the last wave meets it, so that the run continues until then. */
const userCriterion = 'goal-1';

/** Wave whose first delegation asks the user. */
export const askingWave = 2;

/**
 * Creates rules for a deep run. Each delegation needs the product of its place in the wave before, assumes something,
 * states a contradiction to the wave before, and gives one result. One asks the user. The rules answer according to the
 * prompt, so they may be used in any order and for any number of runs.
 */
export function deepScript(deep: DeepRun): readonly ScriptRule[] {
  return [
    { match: { schema: 'plan' }, reply: (request) => planNext(deep, request) },
    {
      match: { callKeyIncludes: `/${idOf(askingWave, 1)}/`, schema: 'delegation', nth: 1 },
      reply: { json: blocked([question('Which region?')], ...criteriaOf(askingWave, 1)) },
    },
    { match: { schema: 'delegation' }, reply: (request) => doTask(deep, request) },
  ];
}

function idOf(wave: number, place: number): string {
  return `w${wave}-d${place}`;
}

/** Lists criteria. The first delegation of each wave tries the user's criterion too. */
function criteriaOf(wave: number, place: number): string[] {
  const own = `${idOf(wave, place)}-done`;
  return place === 1 ? [own, userCriterion] : [own];
}

function planNext(deep: DeepRun, { callKey }: ScriptedRequest): Reply {
  const wave = Number(/\/wave-(\d+)\//.exec(callKey)?.[1] ?? Number.NaN);
  const places = Array.from({ length: deep.width }, (_, index) => index + 1);
  return { json: plan(places.map((place) => taskOf(wave, place))) };
}

function taskOf(wave: number, place: number): Delegation {
  // The first of a wave leaves the user's criterion open, so nothing may build on it.
  const inputs = wave === 1 ? ['goal'] : [idOf(wave - 1, Math.max(2, place))];
  return work(idOf(wave, place), {
    criteria: criteriaOf(wave, place),
    required_inputs: inputs,
    provided_inputs: inputs,
  });
}

function doTask({ waves }: DeepRun, { callKey }: ScriptedRequest): Reply {
  const [, wave = '', place = ''] = /\/w(\d+)-d(\d+)\//.exec(callKey) ?? [];
  const id = `w${wave}-d${place}`;
  const isLast = Number(wave) === waves;
  const [own = '', users] = criteriaOf(Number(wave), Number(place));
  const done = completed(own, ...(isLast && users !== undefined ? [users] : []));
  const criteria_unmet =
    isLast || users === undefined ? [] : [{ criterion_id: users, reason: `${id} is only a step.` }];
  const output: AgentOutput = {
    ...done,
    compact_md: `The result of ${id}.`,
    facts: [
      {
        key: 'newest wave',
        value: wave,
        statement: `Wave ${wave} is the newest.`,
        confidence: 'high',
      },
    ],
    assumptions_made: [{ statement: `${id} assumed that the disk is large.`, confidence: 'low' }],
    coverage: { ...done.coverage, criteria_unmet },
  };
  return { json: output };
}

/**
 * Returns the contents of a run's record without the times: equal for two runs that did the same.
 *
 * Outputs are compared by their addresses, so byte for byte.
 */
export function essenceOf(record: RunRecord) {
  return {
    status: record.status,
    criteria: record.criteria,
    details: record.details,
    facts: record.facts.map(({ recorded_at: _at, ...fact }) => fact),
    answers: record.answered_questions.map(({ question_id, answer, delegation_id }) => ({
      question_id,
      answer,
      delegation_id,
    })),
    edges: [record.consumptions, record.waves.map(({ shown }) => shown), record.stale],
    outcomes: record.waves.flatMap((wave) =>
      wave.outcomes.map(({ delegation_id, status, output_ref, turns }) => ({
        delegation_id,
        status,
        output_ref,
        turns,
      })),
    ),
    calls: record.usage.calls,
  };
}
