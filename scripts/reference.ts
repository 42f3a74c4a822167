import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Command } from 'commander';
import { z, type ZodType } from 'zod';
import type { CliDeps } from '../client/cli/cli-deps.ts';
import { createProgram } from '../client/cli/commands/program.ts';
import { CoordinationPlan } from '../contracts/coordination-plan.ts';
import { EvaluationInput } from '../contracts/evaluation.ts';
import { DelegationInput } from '../contracts/delegation-run.ts';
import {
  ArchitectureDesignInput,
  RiskAssessmentInput,
  ConsultationInput,
} from '../contracts/design-run.ts';
import type { workflowTypes } from '../contracts/names.ts';
import { PlannerRunInput } from '../contracts/planner-run.ts';
import { PlannerWaveInput } from '../contracts/planner-wave.ts';
import { TeamInput } from '../contracts/team.ts';
import { TriadInput, TriadPhaseInput } from '../contracts/triad.ts';
import { ArchivalInput } from '../contracts/note.ts';
import { Slug } from '../contracts/agent-definition.ts';

/** Schemas of the inputs that people write, in the order of docs/inputs.md. */
export const inputSchemas: Readonly<Record<string, ZodType>> = {
  plannerRun: PlannerRunInput,
  plannerWave: PlannerWaveInput,
  delegation: DelegationInput,
  triad: TriadInput,
  triadPhase: TriadPhaseInput,
  team: TeamInput,
  architectureDesign: ArchitectureDesignInput,
  riskAssessment: RiskAssessmentInput,
  consultation: ConsultationInput,
  evaluation: EvaluationInput,
  archival: ArchivalInput,
} satisfies Record<Exclude<keyof typeof workflowTypes, 'notification'>, ZodType>;

const origin = '`npm run reference` writes this page; a test fails when it is out of date.';
const globalOptions = new Set(['--json', '--address', '--namespace']);

/** Writes docs/commands.md: the help of every command, without the options that all have. */
export async function describeCommands(): Promise<string> {
  let text = '';
  const write = (more: string): boolean => {
    text += more;
    return true;
  };
  const shell: CliDeps = Object.assign(Object.create(null), { io: { stdout: { write } } });
  const program = await createProgram(null, shell);
  const help = (command: Command): string => {
    text = '';
    prepareHelp(command, command !== program);
    command.outputHelp();
    return `\`\`\`text\n${text.trim()}\n\`\`\``;
  };
  const sections = program.commands.flatMap(listCommands).map((command) => {
    const path = pathOf(command);
    return path === 'temporal' ? temporalSection : `## planwave ${path}\n\n${help(command)}`;
  });
  return `${[`# Commands\n\n${origin}`, help(program), ...sections].join('\n\n')}\n`;
}

const temporalSection =
  '## planwave temporal\n\nPasses everything behind it to the Temporal CLI that planwave uses: `planwave temporal --help`.';

/** Sets the width that the page has, whatever the terminal. */
function prepareHelp(command: Command, hidesGlobal: boolean): void {
  command.configureOutput({ getOutHelpWidth: () => 110, getOutHasColors: () => false });
  command.configureHelp({
    visibleOptions: ({ options }) =>
      options.filter(
        ({ long, hidden }) => !hidden && !(hidesGlobal && globalOptions.has(long ?? '')),
      ),
  });
}

function listCommands(command: Command): Command[] {
  return [command, ...command.commands.flatMap(listCommands)];
}

function pathOf(command: Command): string {
  const above = command.parent?.parent ? [pathOf(command.parent)] : [];
  return [...above, command.name()].join(' ');
}

/** JSON Schema as zod writes it, as far as the inputs use it. */
interface Shape {
  readonly $ref?: string;
  readonly type?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Shape[];
  readonly oneOf?: readonly Shape[];
  readonly items?: Shape;
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: Shape | boolean;
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
}

/** Writes docs/inputs.md: every field of every input with its type and its bounds. */
export function describeInputs(): string {
  const plan = JSON.stringify(Object.assign({}, toShape(CoordinationPlan), { $schema: undefined }));
  /** Input that described a field first, by the name and the schema of the field. */
  const described = new Map<string, string>();
  const sections = Object.entries(inputSchemas).map(([name, schema]) => {
    const lines = describeFields(toShape(schema), '', (field, shape) => {
      if (JSON.stringify(shape) === plan)
        return 'a plan ([fields](plans.md), [schema](plan.schema.json))';
      const key = `${field} ${JSON.stringify(shape)}`;
      const first = described.get(key);
      if (first === undefined) described.set(key, name);
      const hasParts = shape.properties !== undefined || shape.items?.properties !== undefined;
      return first !== undefined && first !== name && hasParts
        ? `as in [${first}](#${first.toLowerCase()})`
        : undefined;
    });
    return `## ${name}\n\n${lines.length === 0 ? 'No fields.' : lines.join('\n')}`;
  });
  const intro =
    `# Inputs\n\n${origin}\n\nThe fields of each workflow's input, with their types and bounds. [Messages](messages.md) says what they ` +
    'mean and shows examples. Fields are optional unless marked; other fields are refused. An id has 1 to 40 of `a-z`, `0-9`, `-` and `_`.';
  return `${[intro, ...sections].join('\n\n')}\n`;
}

function toShape(schema: ZodType): Shape {
  const shape: Shape = Object(
    z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any', reused: 'inline' }),
  );
  return shape;
}

const idPattern = toShape(Slug).pattern;

/** Describes a field in words, or undefined to describe it by its schema. */
type Known = (field: string, shape: Shape) => string | undefined;

function describeFields(shape: Shape, indent: string, known: Known): string[] {
  const { properties = {}, required = [] } = shape;
  return Object.entries(properties).flatMap(([field, inner]) => {
    const mark = required.includes(field) ? ' **required**,' : '';
    const words = known(field, inner);
    const line = `${indent}- \`${field}\`:${mark} ${words ?? describeShape(inner)}`;
    return words === undefined ? [line, ...describeParts(inner, `${indent}  `, known)] : [line];
  });
}

/** Describes the fields below a field, wherever its schema has them. */
function describeParts(shape: Shape, indent: string, known: Known): string[] {
  const values = typeof shape.additionalProperties === 'object' ? [shape.additionalProperties] : [];
  const below = [shape.items, ...values, ...alternatives(shape)].filter((one) => one !== undefined);
  return [
    ...describeFields(shape, indent, known),
    ...below.flatMap((one) => describeParts(one, indent, known)),
  ];
}

function alternatives({ anyOf = [], oneOf = [] }: Shape): readonly Shape[] {
  return [...anyOf, ...oneOf];
}

function describeShape(shape: Shape): string {
  const choices = alternatives(shape);
  if (choices.length > 0) return choices.map(describeShape).join(', or ');
  if (shape.const !== undefined) return `\`${JSON.stringify(shape.const)}\``;
  if (shape.enum !== undefined)
    return shape.enum.map((one) => `\`${JSON.stringify(one)}\``).join(', ');
  return byType[shape.type ?? '']?.(shape) ?? 'any JSON';
}

const byType: Readonly<Record<string, ((shape: Shape) => string) | undefined>> = {
  string: ({ minLength, maxLength, pattern }) =>
    pattern === idPattern
      ? 'id'
      : `text${boundsOf(' characters', minLength, maxLength)}${pattern === undefined ? '' : `, matching \`${pattern}\``}`,
  integer: ({ minimum, maximum }) => `whole number${boundsOf('', minimum, maximum)}`,
  number: ({ minimum, maximum }) => `number${boundsOf('', minimum, maximum)}`,
  boolean: () => '`true` or `false`',
  null: () => '`null`',
  array: ({ items, minItems, maxItems }) =>
    `list${boundsOf(' entries', minItems, maxItems)} of: ${describeShape(items ?? {})}`,
  object: ({ properties, additionalProperties }) =>
    properties === undefined && typeof additionalProperties === 'object'
      ? `object of any names, each with: ${describeShape(additionalProperties)}`
      : 'object with the fields below',
};

/** Names bounds; one that no number can pass is none. */
function boundsOf(unit: string, from: number | undefined, to: number | undefined): string {
  const least = from !== undefined && from > Number.MIN_SAFE_INTEGER ? from : undefined;
  const most = to !== undefined && to < Number.MAX_SAFE_INTEGER ? to : undefined;
  if (least === undefined && most === undefined) return '';
  if (least === undefined) return ` (at most ${most}${unit})`;
  if (most === undefined) return ` (at least ${least}${unit})`;
  return least === most ? ` (${most}${unit})` : ` (${least} to ${most}${unit})`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const folder = fileURLToPath(new URL('../docs', import.meta.url));
  writeFileSync(join(folder, 'commands.md'), await describeCommands());
  writeFileSync(join(folder, 'inputs.md'), describeInputs());
}
