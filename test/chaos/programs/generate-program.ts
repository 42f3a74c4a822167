import type { Reply, ScriptedRequest } from '../../../rehearsal/script.ts';
import type { Prng } from '../../support/prng.ts';
import { completed, decision, plan, work } from '../../support/scripted-work.ts';
import { provideWritingAgent } from '../../support/writing-agent.ts';
import { readCallKey } from '../call-name.ts';
import { campaignBudget, isRehearsed } from '../runs/reference-run.ts';
import type { ReferenceRun } from '../runs/reference-run.ts';
import { designTask, runWithDesign } from '../runs/with-design.ts';
import { partKinds, partOf, riskyAgent } from './program-parts.ts';
import type { PartKind } from './program-parts.ts';

/** Message to a run that has just begun. It changes no result. */
export type EarlyMessage = 'amend' | 'pause and resume';

/** A generated run. */
export interface Program {
  /** Kinds of the delegations of each wave. Empty for a run in designed mode, which has a plan of its own. */
  readonly waves: readonly (readonly PartKind[])[];
  readonly early: readonly EarlyMessage[];
}

const wavesMax = 4;
/** Besides the first. */
const partsMax = 3;
/** Part of the programs that are runs in designed mode. */
const designShare = 0.12;

/** Criterion of the user that only the last wave meets, so that the run makes all waves. */
const userCriterion = 'goal-1';

export function generateProgram(random: Prng): Program {
  const early = chooseEarly(random.fork('early of a design'));
  // A stream of its own, so that the other programs of a seed stay.
  if (random.fork('mode').chance(designShare)) return { waves: [], early };
  const waves = Array.from(
    { length: random.pick([1, 1, 1, 2, 2, 3, wavesMax]) },
    (): PartKind[] => [
      'agent',
      ...Array.from({ length: random.integer(1, partsMax) }, () => random.pick(partKinds)),
    ],
  );
  return { waves, early: chooseEarly(random) };
}

function chooseEarly(random: Prng): EarlyMessage[] {
  return (['amend', 'pause and resume'] as const).filter(() => random.chance(0.3));
}

/** `agent+team / agent+writer, amend`, or `design, amend`. */
export function describeProgram({ waves, early }: Program): string {
  const parts = waves.length === 0 ? designTask : waves.map((one) => one.join('+')).join(' / ');
  return [parts, ...early].join(', ');
}

/** Reads what `describeProgram` wrote. @throws when it is none. */
export function readProgram(text: string): Program {
  const [waves = '', ...early] = text.split(', ');
  return {
    waves:
      waves === designTask ? [] : waves.split(' / ').map((parts) => parts.split('+').map(readKind)),
    early: early.map((one) => (one === 'amend' ? one : 'pause and resume')),
  };
}

function readKind(text: string): PartKind {
  const kind = (['agent', ...partKinds] as const).find((one) => one === text);
  if (kind !== undefined) return kind;
  throw new Error(
    `"${text}" is no part of a program. Parts are: agent, ${partKinds.join(', ')}; a whole program may be ${designTask}.`,
  );
}

/** Lists programs that are smaller by one wave, one part or one message, the smallest first. */
export function shrinkProgram({ waves, early }: Program): Program[] {
  const withoutWave = waves.length <= 1 ? [] : waves.map((_one, at) => waves.toSpliced(at, 1));
  const withoutPart = waves.flatMap((parts, wave) =>
    parts.slice(1).map((_part, at) => waves.with(wave, parts.toSpliced(at + 1, 1))),
  );
  return [
    ...withoutWave.map((some) => ({ waves: some, early })),
    ...withoutPart.map((some) => ({ waves: some, early })),
    ...early.map((_one, at) => ({ waves, early: early.toSpliced(at, 1) })),
  ];
}

/** Returns the program as a run that can be hurt. */
export function toRun(program: Program): ReferenceRun {
  const { waves, early } = program;
  if (waves.length === 0) return { ...runWithDesign, early };
  const idsOf = (wave: number): string[] =>
    (waves[wave - 1] ?? []).map((_kind, at) => `w${wave}-p${at + 1}`);
  const ids = waves.flatMap((_parts, at) => idsOf(at + 1));
  const kinds = waves.flat();
  const usesRisk = kinds.includes('approved');
  return {
    input: (_runId, home) => ({
      goal: 'Move the backups of a small shop to a second data centre',
      criteria: ['The backups are moved.'],
      budget: campaignBudget,
      ...(usesRisk && { agents_dir: provideWritingAgent(home, riskyAgent, 'high') }),
    }),
    taskIds: ids,
    askings: ids.flatMap((id, at) => partOf(kinds[at] ?? 'agent').asking?.(id) ?? []),
    early,
    replyTo: (request) => replyTo(program, idsOf, request),
  };
}

function replyTo(
  { waves }: Program,
  idsOf: (wave: number) => readonly string[],
  request: ScriptedRequest,
): Reply {
  const { place, owner } = readCallKey(request.callKey);
  const wave = Number(/\/wave-(\d+)/u.exec(place)?.[1]);
  const isLast = wave === waves.length;
  const kindOf = (at: number): PartKind => waves[wave - 1]?.[at] ?? 'agent';
  if (owner === 'plan') {
    const ids = idsOf(wave);
    const planned = ids.map((id, at) => partOf(kindOf(at)).plan(id, ids[0] ?? ''));
    return { json: plan([...planned, work(stepOf(wave), { criteria: stepCriteria(wave) })]) };
  }
  if (owner === 'decision') return { json: isLast ? decision() : decision(userCriterion) };
  if (isRehearsed(request.shape)) return { pass: true };
  if (owner === stepOf(wave)) return { json: stepOutput(wave, isLast) };
  return partOf(kindOf(idsOf(wave).indexOf(owner))).reply(owner, request);
}

/** The delegation of each wave that tries the user's criterion. Nothing builds on it. */
const stepOf = (wave: number): string => `w${wave}-goal`;

const stepCriteria = (wave: number): string[] => [`${stepOf(wave)}-done`, userCriterion];

function stepOutput(wave: number, isLast: boolean) {
  if (isLast) return completed(...stepCriteria(wave));
  const output = completed(`${stepOf(wave)}-done`);
  const criteria_unmet = [{ criterion_id: userCriterion, reason: `Wave ${wave} is only a step.` }];
  return { ...output, coverage: { ...output.coverage, criteria_unmet } };
}
