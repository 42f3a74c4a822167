/** Checks the evidence that a plan requires (rules DP19 to DP21 and DP31 of `check-plan-file`), and keeps its checks by code. */
import type { CoordinationPlan, PlanFinding, PlanTask } from '../../contracts/coordination-plan.ts';
import { dereference } from '@cfworker/json-schema';
import type { Schema } from '@cfworker/json-schema';
import type { AgentSummary } from '../../contracts/agent-definition.ts';
import type { EvidenceCheck } from '../../contracts/verification.ts';
import { checkReadPath, plainPath, withoutCure } from '../effects/check-workspace-path.ts';
import { messageOf } from '../text/message-of.ts';
import { listReaders } from './check-plan-files.ts';
import { findUnwrittenEntry } from './templates.ts';

/** Finds the entries of a list whose name an earlier entry has. */
export function findTwice<T>(
  entries: readonly T[],
  nameOf: (entry: T) => string,
): { readonly at: number; readonly name: string }[] {
  const names = entries.map(nameOf);
  return names.flatMap((name, at) => (names.indexOf(name) === at ? [] : [{ at, name }]));
}

/** Returns a validation that takes the place of a task's: its evidence keeps the checks by code, which only people name. */
export function keepChecks(
  { validation: { evidence: known } }: PlanTask,
  validation: PlanTask['validation'],
): PlanTask['validation'] {
  const evidence = validation.evidence.map((one) => {
    const check = one.check ?? known.find((old) => old.evidence_id === one.evidence_id)?.check;
    return { ...one, ...(check !== undefined && { check }) };
  });
  return { ...validation, evidence };
}

/** Words that judge and measure nothing. */
const vagueWords =
  /\b(?:good|nice|works? well|great|appropriate(?:ly)?|proper(?:ly)?|adequate(?:ly)?|reasonabl[ey]|sufficient(?:ly)?|suitabl[ey]|acceptabl[ey]|user-friendly|high[- ]quality|as (?:needed|expected|appropriate)|fast enough|robust|nicely)\b/i;

/** Something that can be looked up or counted: a digit, a path, a quotation, a piece of code. */
const measures = /\d|[`"“«]|\w\/\w|\w\.\w|\b(?:all|each|every|no|none|zero|exit code)\b/i;

export function checkEvidence({ tasks }: CoordinationPlan): PlanFinding[] {
  const all = tasks.flatMap(({ validation: { evidence } }, task) =>
    evidence.map((one, at) => ({ ...one, path: `tasks/${task}/validation/evidence/${at}` })),
  );
  const missing = tasks.flatMap(({ task_id, validation: { evidence } }, at) =>
    evidence.length > 0
      ? []
      : [
          {
            rule: 'DP19',
            path: `tasks/${at}/validation/evidence`,
            message: `nothing shows that "${task_id}" is done`,
            cure: 'List what its verifier must see, such as the result of a command or a section of a file',
          },
        ],
  );
  const vague = all.flatMap(({ description, path }) => {
    const found = vagueWords.exec(description)?.[0];
    const isUnwritten = findUnwrittenEntry(description).length > 0;
    if (!isUnwritten && (found === undefined || measures.test(description))) return [];
    const why = isUnwritten || found === undefined ? '' : `: "${found}" measures nothing`;
    return [
      {
        rule: 'DP20',
        path: `${path}/description`,
        message: `the evidence can't be measured${why}`,
        cure: 'Say what is seen: a number, a command and its exit code, a file and what it contains',
      },
    ];
  });
  const twice = findTwice(all, ({ evidence_id }) => evidence_id).map(({ at, name }) => ({
    rule: 'DP21',
    path: `${all[at]?.path}/evidence_id`,
    message: `two pieces of evidence have the id "${name}"`,
    cure: 'Give one of them another evidence_id',
  }));
  return [...missing, ...vague, ...twice];
}

type CheckOf<K extends EvidenceCheck['kind']> = Extract<EvidenceCheck, { kind: K }>;

/** Finds checks by code that fail, or pass, whatever the author of the task does. */
export function checkChecks(
  plan: CoordinationPlan,
  agents: readonly AgentSummary[],
): PlanFinding[] {
  const readers = listReaders(plan, agents);
  return plan.tasks.flatMap((task, nth) =>
    task.validation.evidence.flatMap(({ check }, at) => {
      if (check === undefined || check.kind === 'command') return [];
      const place = `tasks/${nth}/validation/evidence/${at}/check`;
      if (check.kind === 'unchanged') {
        return check.paths.flatMap((path, one) => checkPlace(path, `${place}/paths/${one}`));
      }
      const placed = checkPlace(check.path, `${place}/path`);
      return [
        ...(placed.length > 0 ? placed : checkMade(plan, task, { check, place, readers })),
        ...(check.kind === 'schema'
          ? checkSchema(check.schema, { rule: 'DP31', path: `${place}/schema` })
          : []),
      ];
    }),
  );
}

/** Finds a place outside the workspace. That a file is private is no finding: whether it may be read depends on the run. */
function checkPlace(name: string, path: string): PlanFinding[] {
  const checked = checkReadPath(name, () => true);
  if (checked.ok && checked.parts.length > 0) return [];
  const message = checked.ok
    ? `${JSON.stringify(name)} is the workspace itself`
    : withoutCure(checked.reason);
  return [{ rule: 'DP31', path, message, cure: 'Name a place below the workspace' }];
}

/** Finds a file that only agents without a tool for files would make: their results are no files of the workspace. */
function checkMade(
  { agents, tasks }: CoordinationPlan,
  { inputs }: PlanTask,
  {
    check,
    place,
    readers,
  }: {
    readonly check: CheckOf<'file' | 'schema'>;
    readonly place: string;
    readonly readers: ReadonlySet<string>;
  },
): PlanFinding[] {
  const path = plainPath(check.path);
  if (inputs.some((input) => input.from === null && plainPath(input.path) === path)) return [];
  const makers = tasks
    .filter(({ outputs }) => outputs.some((output) => plainPath(output.path) === path))
    .map(({ agent }) => agent);
  const owner = agents.find(({ agent_name }) => path.startsWith(`agents/${agent_name}/`));
  const authors = makers.length > 0 || owner === undefined ? makers : [owner.agent_name];
  const [first] = authors;
  if (first === undefined || !authors.every((name) => readers.has(name))) return [];
  return [
    {
      rule: 'DP31',
      path: `${place}/path`,
      message: `"${first}" has no tool that makes files, so code would find no ${JSON.stringify(path)}`,
      cure: 'Leave the check out, so that the verifier judges the result alone, or give the task to an agent with write_file',
    },
  ];
}

/** Finds what would stop the validation of any text. @param place Rule of the findings, and path of the schema. */
export function checkSchema(
  schema: Readonly<Record<string, unknown>>,
  { rule, path }: Pick<PlanFinding, 'rule' | 'path'>,
): PlanFinding[] {
  return findSchemaFaults(schema).map(({ message, inside }) => ({
    rule,
    path: [path, ...inside].join('/'),
    message,
    cure: 'Write each part of the schema into the schema itself, below $defs',
  }));
}

interface SchemaFault {
  readonly message: string;
  /** Names that lead to the fault in the schema. Empty for the whole. */
  readonly inside: readonly string[];
}

function findSchemaFaults(schema: Readonly<Record<string, unknown>>): SchemaFault[] {
  try {
    // A copy, because the addresses of its parts are noted on it.
    const copy: Schema = JSON.parse(JSON.stringify(schema));
    const parts = dereference(copy);
    // A part below an `$id` is there twice; the last address begins at the schema.
    const addresses = new Map(Object.entries(parts).map(([address, part]) => [part, address]));
    return [...addresses].flatMap(([part, at]) => {
      if (typeof part === 'boolean') return [];
      const { $ref, __absolute_ref__: address, pattern, patternProperties = {} } = part;
      const patterns = [
        ...(pattern === undefined ? [] : [pattern]),
        ...Object.keys(patternProperties),
      ];
      for (const one of patterns) RegExp(one, 'u');
      if ($ref === undefined || parts[address ?? $ref] !== undefined) return [];
      const message = `the schema has no ${JSON.stringify($ref)}, to which it refers`;
      return [{ message, inside: [...namesOf(at), '$ref'] }];
    });
  } catch (error) {
    return [{ message: `the schema can't be used: ${messageOf(error)}`, inside: [] }];
  }
}

/** Returns the names in the JSON pointer of an address. */
function namesOf(address: string): string[] {
  const [, pointer = ''] = address.split('#/');
  if (pointer === '') return [];
  return pointer
    .split('/')
    .map((name) => decodeURIComponent(name).replaceAll('~1', '/').replaceAll('~0', '~'));
}
