import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { ToolProperty } from '../../contracts/agent-definition.ts';
import type { ApprovalMark } from '../../core/effects/decide-approval.ts';
import { findUnknownKey } from '../../core/text/list-names.ts';
import { cutText } from '../../core/text/cut-text.ts';
import { countBytes } from '../text/bytes.ts';
import { capResult } from './call-tool.ts';
import type { ActingTool, GrantableTool, ToolContext } from './tool.ts';

/** Facts about a call that a tool may use. */
export interface OwnContext {
  readonly run_id: string;
  readonly delegation_id: string;
  /** Equal for all attempts at one call of an acting tool, for services that know idempotency keys. Else empty. */
  readonly call_id: string;
  /** Aborted when the call took too long or was cancelled. */
  readonly signal: AbortSignal;
  /** Shows a line to people who watch a call of an acting tool, as long as there is no newer one. */
  readonly report: (line: string) => void;
}

/** Result of a look at a call that was interrupted: whether its change took place. */
export type Found = 'done' | 'absent' | 'unknown';

/** Tool of the worker's owner, as a module of `PLANWAVE_TOOLS` defines it. */
export interface OwnTool<S extends z.ZodType = z.ZodType> {
  readonly name: string;
  /** Text for models: when to use it, its limits, one example. Planners read the first sentence. */
  readonly description: string;
  /** Arguments: an object. */
  readonly schema: S;
  /** `read` changes nothing and may be repeated; each call of an `acting` tool is an effect. */
  readonly effect: 'read' | 'acting';
  readonly brings: readonly ToolProperty[];
  /** Set only for an acting tool. Default `by_risk`. */
  readonly approval?: ApprovalMark;
  /** Set only for an acting tool. Default 60. */
  readonly timeout_seconds?: number;
  /** Names what a call changes, in a few words, for an acting tool. Default: the arguments. */
  target?(input: z.output<S>): string;
  /** Does the work. @returns the text for the model; an error's message is one too. */
  run(input: z.output<S>, context: OwnContext): string | Promise<string>;
  /**
   * Tells whether the change of an interrupted call took place. Must not guess. If absent, a person is asked.
   */
  look?(input: z.output<S>, context: OwnContext): Found | Promise<Found>;
}

/** An acting tool throws it when it is certain that nothing was changed. Other errors are looked into, or put to a person. */
export class NothingDone extends Error {
  override readonly name = 'NothingDone';
}

/** Returns a tool as it is, with the types of its arguments. */
export function defineTool<S extends z.ZodType>(tool: OwnTool<S>): OwnTool<S> {
  return tool;
}

const goodName = /^[a-z][a-z0-9_]{0,59}$/;
const knownProperties: readonly unknown[] = [
  'untrusted_text',
  'private_data',
  'acts_outside',
] satisfies readonly ToolProperty[];
const knownApprovals: readonly unknown[] = [
  undefined,
  'never',
  'by_risk',
  'always',
] satisfies readonly (ApprovalMark | undefined)[];

/** Fields that mean nothing for a tool that changes nothing. */
const actingFields = ['approval', 'timeout_seconds', 'target', 'look'] as const;
const toolFields: readonly string[] = [
  'name',
  'description',
  'schema',
  'effect',
  'brings',
  'run',
  ...actingFields,
] satisfies readonly (keyof OwnTool)[];

const descriptionCharsMax = 2_000;
const targetCharsMax = 200;

/**
 * Finds all faults of a list of tools, one line each.
 *
 * @param taken Names that are already used.
 */
export function findToolFaults(list: unknown, taken: readonly string[] = []): string[] {
  if (!Array.isArray(list)) return ['expected a list. Try: [defineTool({…})]'];
  const names = new Set(taken);
  return list.flatMap((entry: unknown, index): string[] => {
    if (typeof entry !== 'object' || entry === null)
      return [`[${index}]: expected defineTool({…})`];
    const tool = Object.fromEntries(Object.entries(entry));
    const { name } = tool;
    const faults = [...checkName(name, names), ...checkFields(tool), ...checkExtras(tool)];
    if (typeof name === 'string') names.add(name);
    const shown = typeof name === 'string' ? ` "${cutText(name, 60)}"` : '';
    return faults.map((fault) => `[${index}]${shown}: ${fault}`);
  });
}

/** @returns true when the list has no faults. */
export function isToolList(list: unknown): list is readonly OwnTool[] {
  return findToolFaults(list).length === 0;
}

function checkName(name: unknown, taken: ReadonlySet<string>): string[] {
  if (typeof name !== 'string' || !goodName.test(name) || name.startsWith('mcp__')) {
    return ['name: expected 1 to 60 lower-case letters, digits or "_". Try: "find_tickets"'];
  }
  return taken.has(name) ? ['name: it is used already. Try: another name'] : [];
}

function checkFields(tool: Readonly<Record<string, unknown>>): string[] {
  const { description, schema, effect, brings, approval, timeout_seconds: seconds } = tool;
  const { run, look, target } = tool;
  const isText = typeof description === 'string' && description.trim() !== '';
  const areProperties =
    Array.isArray(brings) && brings.every((one) => knownProperties.includes(one));
  const checks: readonly (readonly [boolean, string])[] = [
    [
      isText && description.length <= descriptionCharsMax,
      `description: expected a text of at most ${descriptionCharsMax} characters, with an example`,
    ],
    [isObjectSchema(schema), 'schema: expected a zod object. Try: z.strictObject({…})'],
    [effect === 'read' || effect === 'acting', 'effect: expected "read" or "acting"'],
    [
      areProperties,
      'brings: expected a list of "untrusted_text", "private_data" and "acts_outside". Try: [] if it brings none',
    ],
    [knownApprovals.includes(approval), 'approval: expected "never", "by_risk" or "always"'],
    [
      seconds === undefined ||
        (Number.isInteger(seconds) && Number(seconds) >= 1 && Number(seconds) <= 600),
      'timeout_seconds: expected a whole number from 1 to 600',
    ],
    [typeof run === 'function', 'run: expected a function of the input and a context'],
    [isAbsentOrFunction(look), 'look: expected a function, or nothing'],
    [isAbsentOrFunction(target), 'target: expected a function, or nothing'],
  ];
  return checks.flatMap(([holds, fault]) => (holds ? [] : [fault]));
}

/** A field that would be ignored is a fault: `aproval: 'always'` would let calls pass unseen. */
function checkExtras(tool: Readonly<Record<string, unknown>>): string[] {
  const unknown = findUnknownKey(tool, toolFields);
  const idle =
    tool['effect'] === 'read' ? actingFields.filter((field) => tool[field] !== undefined) : [];
  return [
    ...(unknown === null ? [] : [unknown]),
    ...idle.map((field) => `${field}: only an acting tool has it. Try: leave it out`),
  ];
}

function isAbsentOrFunction(value: unknown): boolean {
  return value === undefined || typeof value === 'function';
}

function isObjectSchema(schema: unknown): boolean {
  if (!(schema instanceof z.ZodType)) return false;
  try {
    return z.toJSONSchema(schema, { io: 'input' }).type === 'object';
  } catch {
    return false;
  }
}

/** Makes a tool of the engine from one of an owner. */
export function toTool(own: OwnTool): GrantableTool {
  const { name, description, schema: input, timeout_seconds: seconds } = own;
  const entry = {
    spec: { name, description, input },
    brings: own.brings,
    offeredTo: ['agents'],
    ...(seconds !== undefined && { timeoutMsOf: () => seconds * 1_000 }),
  } as const;
  if (own.effect === 'acting') return { ...entry, ...createActing(own) };
  return {
    ...entry,
    effect: 'read',
    run: async (args, context) => readText(await own.run(args, contextOf(context, ''))),
  };
}

/** Names what a call changes. A function of the owner that throws or gives no text leaves it to the arguments. */
function nameTarget(own: OwnTool, input: unknown): string {
  try {
    const said: unknown = own.target?.(input);
    if (typeof said === 'string' && said.trim() !== '') return said;
    // A promise of it comes too late. One that rejects must not end the worker.
    Promise.resolve(said).catch(() => undefined);
  } catch {
    // The call does not depend on it.
  }
  return `${own.name} ${JSON.stringify(input)}`;
}

function createActing(own: OwnTool): Omit<ActingTool, 'spec' | 'brings' | 'offeredTo'> {
  // Calls that threw and said so; after a crash the tool has to look.
  const undone = new Set<string>();
  const targetOf = (input: unknown): string => cutText(nameTarget(own, input), targetCharsMax);
  const keep = async (text: string, input: unknown, { store }: Pick<ToolContext, 'store'>) => ({
    target: targetOf(input),
    sha256: await store.put(text),
    bytes: countBytes(text),
    call: true as const,
  });
  return {
    effect: 'acting',
    approval: own.approval ?? 'by_risk',
    targetOf,
    // The key of the call: written into the ledger before the tool acts.
    look: async () => randomUUID(),
    async act(input, { before, mayStill, onTail, ...context }) {
      await mayStill();
      let line = '';
      onTail?.(() => `${line}\n`);
      const report = (newest: string): void => {
        line = newest;
      };
      try {
        const text = readText(await own.run(input, { ...contextOf(context, before), report }));
        return await keep(capResult(text), input, context);
      } catch (error) {
        if (error instanceof NothingDone) undone.add(before);
        throw error;
      }
    },
    async check(input, before, context) {
      if (undone.delete(before)) return { type: 'absent' };
      const found = (await own.look?.(input, contextOf(context, before))) ?? 'unknown';
      if (found === 'absent') return { type: 'absent' };
      if (found === 'done') {
        const text = `${own.name}: it took place, and its answer was lost.`;
        return { type: 'happened', receipt: await keep(text, input, context) };
      }
      return { type: 'unknown', found: `${own.name} was interrupted or failed, and cannot tell.` };
    },
    describeDone: ({ sha256 }, { store }) => store.getText(sha256),
  };
}

function contextOf({ run_id, delegation_id, signal }: ToolContext, call_id: string): OwnContext {
  return { run_id, delegation_id, call_id, signal, report: () => {} };
}

function readText(answer: unknown): string {
  if (typeof answer === 'string') return answer;
  throw new Error('it gave no text. Cure: its owner makes `run` return a string.');
}
