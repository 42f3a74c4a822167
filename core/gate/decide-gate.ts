/**
 * Decides whether a delegation may start (seed 004 §3.1).
 *
 * Invariants:
 *   G1. Open means: every dependency has completed, and every required input is known or produced by a completed
 *       delegation. Criteria that an output leaves unmet withhold it only from a delegation with `needs: "met"`.
 *   G2. A name in `provided_inputs` counts only when the run knows it.
 *   G3. When a dependency, or every producer of an input, has ended without what is needed, the start is impossible,
 *       and the reason names it.
 *   G4. Closed names each missing thing, its producer, and the producer's state.
 *   G5. Time plays no part: the same world gives the same gate for ever.
 */
import type { DelegationOutline } from '../../contracts/delegation.ts';
import type { DelegationState } from '../../contracts/views.ts';

export interface GateDelegation {
  readonly state: DelegationState;
  /** True when a criterion of its output is unmet. Only the output of a completed delegation counts. */
  readonly leaves_unmet: boolean;
  readonly produces: readonly string[];
}

/** Inputs and delegations that a gate is decided on. */
export interface GateWorld {
  readonly known_inputs: ReadonlySet<string>;
  /** All delegations of the wave, by id, in plan order. */
  readonly delegations: ReadonlyMap<string, GateDelegation>;
}

export type Gate =
  | { readonly type: 'open' }
  /** Lines such as `input "x" from d1 (running)`. */
  | { readonly type: 'closed'; readonly waiting_for: readonly string[] }
  | { readonly type: 'impossible'; readonly reason: string };

type Finding =
  | { readonly type: 'met' }
  /** `from`: the delegations that can still bring it. */
  | {
      readonly type: 'awaited';
      readonly what: 'input' | 'dependency';
      readonly line: string;
      readonly from: readonly string[];
    }
  | { readonly type: 'lost'; readonly reason: string };

export function decideGate(delegation: DelegationOutline, world: GateWorld): Gate {
  const findings = [
    ...[...new Set(delegation.required_inputs)].map((input) => findInput(input, delegation, world)),
    ...[...new Set(delegation.depends_on)].map((id) => findDependency(id, delegation, world)),
  ];
  const lost = findings.filter((f) => f.type === 'lost').map((f) => f.reason);
  if (lost.length > 0) return { type: 'impossible', reason: joinReasons(lost) };
  const awaited = findings.filter((f) => f.type === 'awaited');
  if (awaited.length === 0) return { type: 'open' };
  return { type: 'closed', waiting_for: mergeLines(awaited) };
}

function findInput(
  input: string,
  { delegation_id: self, needs }: DelegationOutline,
  world: GateWorld,
): Finding {
  if (world.known_inputs.has(input)) return { type: 'met' };
  const producers = [...world.delegations].filter(
    ([id, other]) => id !== self && (id === input || other.produces.includes(input)),
  );
  if (producers.some(([, other]) => isGiven(other, needs))) return { type: 'met' };
  const alive = producers.filter(([, other]) => !hasEnded(other.state));
  if (alive.length > 0) {
    const names = alive.map(([id, other]) => describe(id, other)).join(' or ');
    return {
      type: 'awaited',
      what: 'input',
      line: `input "${input}" from ${names}`,
      from: alive.map(([id]) => id),
    };
  }
  const [first] = producers;
  return {
    type: 'lost',
    reason:
      first === undefined
        ? `nobody produces the input "${input}"`
        : `input "${input}" cannot come: ${describeEnd(first[0], first[1])}`,
  };
}

function findDependency(id: string, { needs }: DelegationOutline, world: GateWorld): Finding {
  const other = world.delegations.get(id);
  if (other === undefined) return { type: 'lost', reason: `${id} is no delegation of this wave` };
  if (isGiven(other, needs)) return { type: 'met' };
  if (hasEnded(other.state)) return { type: 'lost', reason: describeEnd(id, other) };
  return { type: 'awaited', what: 'dependency', line: describe(id, other), from: [id] };
}

function isGiven(other: GateDelegation, needs: DelegationOutline['needs']): boolean {
  return other.state === 'completed' && !(needs === 'met' && other.leaves_unmet);
}

/** Joins the lines. A dependency that also brings an awaited input is named only there. */
function mergeLines(awaited: readonly Extract<Finding, { type: 'awaited' }>[]): string[] {
  const told = new Set(awaited.flatMap((f) => (f.what === 'input' ? f.from : [])));
  return awaited
    .filter((f) => f.what === 'input' || !f.from.every((id) => told.has(id)))
    .map((f) => f.line);
}

/** Joins the reasons. A dependency that is also the lost producer of an input is named only there. */
function joinReasons(reasons: readonly string[]): string {
  return [...new Set(reasons)]
    .filter((reason, _, all) => !all.some((other) => other.endsWith(`: ${reason}`)))
    .join('; ');
}

export function hasEnded(state: DelegationState): boolean {
  return state === 'completed' || state === 'failed' || state === 'skipped' || state === 'stopped';
}

function describe(id: string, other: GateDelegation): string {
  return `${id} (${other.state})`;
}

function describeEnd(id: string, other: GateDelegation): string {
  return other.state === 'completed'
    ? `${id} completed with criteria unmet, and "needs" is "met"`
    : `${id} ${other.state === 'failed' ? 'failed' : `was ${other.state}`}`;
}
