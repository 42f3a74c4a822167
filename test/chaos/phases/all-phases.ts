import { atEvents } from './at-events.ts';
import { beforeCompletions, inCalls } from './in-calls.ts';
import { pauses } from './pauses.ts';
import type { Phase } from './phase.ts';
import { answers, modelFaults } from './beside-workers.ts';
import { withServer } from './with-server.ts';

/** The phases that hurt single runs, in the order in which they are played. */
export const phases = {
  events: atEvents,
  calls: inCalls,
  completions: beforeCompletions,
  servers: withServer,
  pauses,
  models: modelFaults,
  answers,
} as const satisfies Record<string, Phase>;

export type SinglePhaseName = keyof typeof phases;

/** `crowd` hurts many runs at once. */
export type PhaseName = SinglePhaseName | 'crowd';

/** `programs` are generated runs, which no phase plays. */
export type ReportedName = PhaseName | 'programs';

export const singlePhaseNames: readonly SinglePhaseName[] = [
  'events',
  'calls',
  'completions',
  'servers',
  'pauses',
  'models',
  'answers',
];

export const phaseNames: readonly PhaseName[] = [...singlePhaseNames, 'crowd'];
