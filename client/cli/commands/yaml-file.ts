import { isCollection, isMap, isScalar, isSeq, type Document } from 'yaml';
import type { z } from 'zod';
import type { PlanFinding } from '../../../contracts/coordination-plan.ts';
import { cutText } from '../../../core/text/cut-text.ts';
import { isTabError, readYaml, toJson } from '../../../core/text/read-yaml.ts';
import { cleanLine } from '../terminal-text.ts';
import { describeIssue } from '../../check-input.ts';
import { expandIssue } from '../../../contracts/output-fault.ts';

/** Finding with its place in the file. Lines and columns count from 1. */
export interface PlacedFinding extends PlanFinding {
  readonly line: number;
  readonly column: number;
}

export interface YamlFile<T> {
  /** Null when the file does not fit its schema; the findings then say why. */
  readonly value: T | null;
  readonly findings: readonly PlacedFinding[];
  /** Puts findings of the value at their places in this file, in the order of the file. */
  readonly place: (findings: readonly PlanFinding[]) => PlacedFinding[];
}

/** Words for a kind of file: its whole, and the document with its fields. */
export interface FileNames {
  readonly whole: string;
  readonly fields: string;
}

const yamlCure = 'Mend the indentation, or put a text with ": " or "#" in double quotes';

/** Most findings of a file that does not fit: they often have one cause. */
const findingsMax = 100;

/** Reads a value from YAML, of which JSON is a part. */
export function readYamlFile<T>(text: string, schema: z.ZodType<T>, names: FileNames): YamlFile<T> {
  const yaml = readYaml(text.replace(/^\uFEFF/, ''));
  const { document, errors } = yaml;
  const placeAt = (offset: number): { line: number; column: number } => {
    const { line, col } = yaml.placeOf(offset);
    return { line, column: col };
  };
  const place = (findings: readonly PlanFinding[]): PlacedFinding[] =>
    findings
      .map((finding) => ({ ...finding, ...placeAt(findOffset(document, finding.path)) }))
      .toSorted((a, b) => a.line - b.line || a.column - b.column);
  if (errors.length > 0) {
    const findings = errors.slice(0, findingsMax).map((error) => {
      const message = `this is no YAML: ${cutText(error.message, 300)}`;
      const cure = isTabError(error) ? 'Indent with spaces' : yamlCure;
      return { rule: 'yaml', path: '', message, cure, ...placeAt(error.pos[0]) };
    });
    return { value: null, findings, place };
  }
  const value = toValue(document);
  if (value instanceof Error) {
    const finding = { rule: 'yaml', path: '', message: value.message, cure: 'Write texts out' };
    return { value: null, findings: place([finding]), place };
  }
  const parsed = schema.safeParse(value);
  if (parsed.success) return { value: parsed.data, findings: [], place };
  const faults = parsed.error.issues
    .flatMap(expandIssue)
    .flatMap((issue) => describeFault(issue, names));
  return { value: null, findings: place(faults).slice(0, findingsMax), place };
}

/** Describes findings, one a line, as compilers do. */
export function describeFindings(file: string, findings: readonly PlacedFinding[]): string[] {
  return findings.map(({ line, column, message, cure, rule }) =>
    cleanLine(`${file}:${line}:${column}: ${message}. Try: ${cure} (${rule})`),
  );
}

function describeFault(issue: z.core.$ZodIssue, { whole, fields }: FileNames): PlanFinding[] {
  const rule = 'schema';
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({
      rule,
      path: [...issue.path, key].join('/'),
      message: `unknown field ${JSON.stringify(cutText(key, 60))}`,
      cure: 'Remove it, or correct its name',
    }));
  }
  return [
    {
      rule,
      path: issue.path.join('/'),
      message: `${issue.path.join('.') || whole}: ${describeIssue(issue)}`,
      cure: `the fields in ${fields}`,
    },
  ];
}

/** Returns the error of a document whose aliases lead nowhere, expand without end, or contain themselves. */
function toValue(document: Document.Parsed): unknown {
  try {
    return toJson(document.contents, document);
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

/** Finds the place of a path, or of the nearest entry above it that exists. */
function findOffset(document: Document.Parsed, path: string): number {
  let node: unknown = document.contents;
  // The first field, below the comments at the top.
  let offset = startOf(node) ?? 0;
  for (const part of path === '' ? [] : path.split('/')) {
    const next = enter(node, part);
    if (next === null) break;
    ({ node, offset } = next);
  }
  return offset;
}

function enter(node: unknown, part: string): { node: unknown; offset: number } | null {
  if (isSeq(node)) {
    const item = node.items[Number(part)];
    return item === undefined ? null : { node: item, offset: startOf(item) ?? startOf(node) ?? 0 };
  }
  if (!isMap(node)) return null;
  const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === part);
  if (pair === undefined) return null;
  return { node: pair.value, offset: startOf(pair.key) ?? 0 };
}

function startOf(node: unknown): number | undefined {
  return isScalar(node) || isCollection(node) ? node.range?.[0] : undefined;
}
