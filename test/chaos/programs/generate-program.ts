import type { BudgetInput } from '../../../contracts/budget.ts';
import type { NamedTeam } from '../../../contracts/team.ts';
import type { Reply, ScriptedRequest } from '../../../rehearsal/script.ts';
import type { Prng } from '../../support/prng.ts';
import { members } from '../../support/scripted-team.ts';
import { completed, decision, plan, work } from '../../support/scripted-work.ts';
import { waveWorkflowId } from '../../../core/ids.ts';
import { readCallKey } from '../call-name.ts';
import { campaignBudget, isRehearsed, provideWorkspace } from '../runs/reference-run.ts';
import type { ReferenceRun } from '../runs/reference-run.ts';
import { designTask, runWithDesign } from '../runs/with-design.ts';
import {
  disputedKey,
  outsideKinds,
  partKinds,
  partOf,
  provideAgents,
  stating,
  threadTeam,
} from './program-parts.ts';
import type { PartKind, PartPlace } from './program-parts.ts';
import type { WaveDecision } from '../../../contracts/wave-plan.ts';

/**
 * Peculiarity of a run. None of it changes the result.
 *
 * - `amend`, `pause and resume`: messages right after its start.
 * - `small budget`: the run asks for more on its way.
 * - `short histories`: the server wants workflows to continue as new early.
 */
const extras = ['amend', 'pause and resume', 'small budget', 'short histories'] as const;
export type Extra = (typeof extras)[number];

/** A generated run. */
export interface Program {
  /** Kinds of the delegations of each wave. Empty for a run in designed mode, which has a plan of its own. */
  readonly waves: readonly (readonly PartKind[])[];
  readonly extras: readonly Extra[];
}

const wavesMax = 4;
/** Besides the first. */
const partsMax = 3;
/** Part of the programs that are runs in designed mode. */
const designShare = 0.12;
/** Part of the waves whose last delegation acts on more than the run's own files. */
const outsideShare = 0.4;

/** Limit that every run of a program reaches. */
const smallBudget: BudgetInput = { calls: 4 };

const threadedTeam: NamedTeam = {
  team_id: threadTeam,
  members: members('researcher', 'writer'),
  timeout: 20_000,
  member_timeout: 10_000,
};

/** Criterion of the user that only the last wave meets, so that the run makes all waves. */
const userCriterion = 'goal-1';

export function generateProgram(random: Prng): Program {
  const early = chooseEarly(random.fork('early of a design'));
  // A stream of its own, so that the other programs of a seed stay.
  if (random.fork('mode').chance(designShare)) return { waves: [], extras: early };
  const waves = Array.from(
    { length: random.pick([1, 1, 1, 2, 2, 3, wavesMax]) },
    (): PartKind[] => {
      const kinds = Array.from({ length: random.integer(1, partsMax) }, () =>
        random.pick(partKinds),
      );
      // Teams that work at the same time add to a thread in any order.
      return ['agent', ...kinds.filter(isFirstInThread)];
    },
  );
  const chosen = extras.filter(() => random.chance(0.25));
  return { waves: actOutside(waves, random.fork('outside')), extras: chosen };
}

function actOutside(waves: readonly PartKind[][], random: Prng): PartKind[][] {
  return waves.map((kinds) =>
    random.chance(outsideShare) ? kinds.with(kinds.length - 1, random.pick(outsideKinds)) : kinds,
  );
}

function isFirstInThread(kind: PartKind, at: number, kinds: readonly PartKind[]): boolean {
  return kind !== 'threaded' || kinds.indexOf(kind) === at;
}

/** Peculiarities that a run in designed mode may have. */
function chooseEarly(random: Prng): Extra[] {
  return (['amend', 'pause and resume'] as const).filter(() => random.chance(0.3));
}

/** `agent+team / agent+writer, amend`, or `design, amend`. */
export function describeProgram({ waves, extras: peculiar }: Program): string {
  const parts = waves.length === 0 ? designTask : waves.map((one) => one.join('+')).join(' / ');
  return [parts, ...peculiar].join(', ');
}

/** Reads what `describeProgram` wrote. @throws when it is none. */
export function readProgram(text: string): Program {
  const [waves = '', ...peculiar] = text.split(', ');
  return {
    waves:
      waves === designTask ? [] : waves.split(' / ').map((parts) => parts.split('+').map(readKind)),
    extras: peculiar.map(readExtra),
  };
}

function readExtra(text: string): Extra {
  const extra = extras.find((one) => one === text);
  if (extra !== undefined) return extra;
  throw new Error(`"${text}" is nothing that a program has besides parts: ${extras.join(', ')}.`);
}

function readKind(text: string): PartKind {
  const kinds: readonly PartKind[] = ['agent', ...partKinds, ...outsideKinds];
  const kind = kinds.find((one) => one === text);
  if (kind !== undefined) return kind;
  throw new Error(
    `"${text}" is no part of a program. Parts are: ${kinds.join(', ')}; a whole program may be ${designTask}.`,
  );
}

/** Lists programs that are smaller by one wave, one part or one peculiarity, the smallest first. */
export function shrinkProgram({ waves, extras: peculiar }: Program): Program[] {
  const withoutWave = waves.length <= 1 ? [] : waves.map((_one, at) => waves.toSpliced(at, 1));
  const withoutPart = waves.flatMap((parts, wave) =>
    parts.slice(1).map((_part, at) => waves.with(wave, parts.toSpliced(at + 1, 1))),
  );
  return [
    ...withoutWave.map((some) => ({ waves: some, extras: peculiar })),
    ...withoutPart.map((some) => ({ waves: some, extras: peculiar })),
    ...peculiar.map((_one, at) => ({ waves, extras: peculiar.toSpliced(at, 1) })),
  ];
}

/** Returns the program as a run that can be hurt. */
export function toRun(program: Program, place: PartPlace): ReferenceRun {
  const { waves } = program;
  const early = program.extras.filter((one) => one === 'amend' || one === 'pause and resume');
  if (waves.length === 0) return { ...runWithDesign, early };
  const idsOf = (wave: number): string[] =>
    (waves[wave - 1] ?? []).map((_kind, at) => `w${wave}-p${at + 1}`);
  const ids = waves.flatMap((_parts, at) => idsOf(at + 1));
  const kinds = waves.flat();
  const files = Object.assign({}, ...ids.map((id, at) => partOf(kinds[at] ?? 'agent').files?.(id)));
  const isSmall = program.extras.includes('small budget');
  return {
    input: (runId, where) => ({
      goal: 'Move the backups of a small shop to a second data centre',
      criteria: ['The backups are moved.'],
      budget: isSmall ? smallBudget : campaignBudget,
      ...(kinds.includes('threaded') && { teams: [{ ...threadedTeam, thread_id: runId }] }),
      ...(Object.keys(files).length > 0 && {
        workspace_dir: provideWorkspace(where, runId, files),
        changes: 'apply' as const,
      }),
      agents_dir: provideAgents(where.home, kinds),
    }),
    taskIds: ids,
    files,
    askings: ids.flatMap((id, at) => partOf(kinds[at] ?? 'agent').asking?.(id) ?? []),
    early,
    asksForMore: isSmall,
    hasShortHistories: program.extras.includes('short histories'),
    replyTo: (request) => replyTo(program, { ...place, idsOf }, request),
  };
}

function replyTo(
  { waves }: Program,
  { idsOf, hasSandbox }: PartPlace & { readonly idsOf: (wave: number) => readonly string[] },
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
  const wavePath = waveWorkflowId('', wave).slice(1);
  const disputers = idsOf(wave).filter((_id, at) => kindOf(at) === 'disputer');
  if (owner === 'decision') {
    return {
      json: resolving(
        disputers,
        (id) => `${wavePath}/${id}`,
        stepOf(wave),
        isLast ? [] : [userCriterion],
      ),
    };
  }
  if (isRehearsed(request.shape)) return { pass: true };
  if (owner === stepOf(wave)) {
    return {
      json: { ...stepOutput(wave, isLast), facts: stating(disputers.map(disputedKey), '10') },
    };
  }
  return partOf(kindOf(idsOf(wave).indexOf(owner))).reply(owner, request, { hasSandbox });
}

/** Decides for the disputers. */
function resolving(
  disputers: readonly string[],
  sourceOf: (id: string) => string,
  superseded: string,
  open: readonly string[],
): WaveDecision {
  const made = decision(...open);
  const conflicts_resolved = disputers.map((id) => ({
    conflict: `conflict:${disputedKey(id)}`,
    resolution: 'The newer list.',
    origin: sourceOf(id),
    superseded: sourceOf(superseded),
  }));
  return { ...made, planner_decision: { ...made.planner_decision, conflicts_resolved } };
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
