import { RegExpParser, visitRegExpAST } from '@eslint-community/regexpp';
import type { AST } from '@eslint-community/regexpp';
import { parseSync } from '@swc/core';
import { analyse } from 'scslre';
import { createRecommendedRules } from '../../redaction/recommended-rules.ts';
import { planted } from '../support/planted.ts';
import type { Prng } from '../support/prng.ts';
import { read, sourceFiles } from './repository.ts';

/** A regular expression that the product uses, and where. */
export interface Pattern {
  readonly source: string;
  readonly flags: string;
  readonly place: string;
}

/** Files that build patterns from a schema of the engine, never from a text. */
const buildFromSchemas = /^rehearsal\/generator\//;

/** The patterns of the source, those built by it and those of secretlint. */
export async function listPatterns(): Promise<Pattern[]> {
  const built: Pattern[] = [];
  for (const place of listBuilders().filter((one) => !buildFromSchemas.test(one))) {
    built.push(...(await listBuilt(place)));
  }
  return [...listLiterals(), ...built, ...listRecommended()];
}

/** Every literal of the source, each once. */
function listLiterals(): Pattern[] {
  const literals = sourceFiles.flatMap((place) =>
    listNodes(place, 'RegExpLiteral').map(({ pattern, flags }) => ({
      source: String(pattern),
      flags: String(flags),
      place,
    })),
  );
  return once(literals);
}

/** Files that build expressions at run time. */
function listBuilders(): string[] {
  return sourceFiles.filter((place) =>
    listNodes(place, 'NewExpression').some(
      ({ callee }) => isNode(callee) && callee['value'] === 'RegExp',
    ),
  );
}

/** The expressions that a file builds when it is loaded. */
async function listBuilt(place: string): Promise<Pattern[]> {
  const built: Pattern[] = [];
  const original = globalThis.RegExp;
  globalThis.RegExp = new Proxy(original, {
    construct(target, [source, flags = '']: [string, string?]) {
      built.push({ source, flags, place });
      return new target(source, flags);
    },
  });
  // The query makes it a module of its own: it may be loaded already.
  await import(`../../${place}?built`);
  globalThis.RegExp = original;
  return once(built);
}

/** The expressions that secretlint's rules apply, observed while they read texts with secrets in them. */
function listRecommended(): Pattern[] {
  const applied: Pattern[] = [];
  const exec = Object.getOwnPropertyDescriptor(RegExp.prototype, 'exec');
  if (exec === undefined) throw new Error('There is no exec to observe.');
  // Every method that takes an expression calls its `exec`. It is put back before anybody else looks.
  // oxlint-disable no-extend-native
  Object.defineProperty(RegExp.prototype, 'exec', {
    ...exec,
    value(this: RegExp, text: string): unknown {
      applied.push({ source: this.source, flags: this.flags, place: 'secretlint' });
      return Reflect.apply(exec.value, this, [text]);
    },
  });
  const find = createRecommendedRules();
  for (const text of Object.values(planted)) find(text);
  Object.defineProperty(RegExp.prototype, 'exec', exec);
  // oxlint-enable no-extend-native
  return once(applied);
}

function once(patterns: readonly Pattern[]): Pattern[] {
  return [...new Map(patterns.map((one) => [`/${one.source}/${one.flags}`, one])).values()];
}

type Node = Readonly<Record<string, unknown>>;

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null;
}

function listNodes(place: string, type: string): Node[] {
  const found: Node[] = [];
  const walk = (node: unknown): void => {
    if (!isNode(node)) return;
    if (node['type'] === type) found.push(node);
    for (const child of Object.values(node)) walk(child);
  };
  walk(parseSync(read(place), { syntax: 'typescript', target: 'es2022' }).body);
  return found;
}

/** Repetitions up to here are short enough to be tried in every way. */
const triedInEveryWay = 7;

/**
 * Says why the time of a pattern may grow faster than the text, or null when it does not.
 *
 * scslre looks at `*` and `+` only. A bounded repetition inside of another one doubles the time just as well, so the
 * second look takes every long bound for none; there only exponential growth counts, because bounds that follow one
 * another multiply to a constant.
 */
export function explainGrowth({ source, flags }: Pattern): string | null {
  const asItIs = look(source, flags);
  const [first] = asItIs;
  if (first !== undefined) return first;
  const [nested] = look(withoutBounds(source, flags), flags, true);
  return nested === undefined ? null : `${nested}, where long bounds are taken for none`;
}

function look(source: string, flags: string, exponentialOnly = false): string[] {
  const { reports } = analyse({ source, flags });
  return reports
    .filter(({ exponential }) => exponential || !exponentialOnly)
    .map(({ type, exponential }) => `${type}${exponential ? ', exponential' : ''}`);
}

function withoutBounds(source: string, flags: string): string {
  const wide = listLong(parse(source, flags)).filter(
    ({ min, max }) => max !== Infinity && max !== min,
  );
  return wide
    .toSorted((a, b) => b.element.end - a.element.end)
    .reduce((text, { min, greedy, element, end }) => {
      const least = min === 0 ? '*' : `{${min},}`;
      return `${text.slice(0, element.end)}${least}${greedy ? '' : '?'}${text.slice(end)}`;
    }, source);
}

function parse(source: string, flags: string): AST.Pattern {
  const modes = { unicode: flags.includes('u'), unicodeSets: flags.includes('v') };
  return new RegExpParser().parsePattern(source, 0, source.length, modes);
}

/** Whether a match may be long. One that may not takes a constant time at each place. */
export function repeatsLong({ source, flags }: Pattern): boolean {
  return listLong(parse(source, flags)).length > 0;
}

function listLong(pattern: AST.Pattern): AST.Quantifier[] {
  const found: AST.Quantifier[] = [];
  visitRegExpAST(pattern, {
    onQuantifierEnter(node) {
      if (node.max > triedInEveryWay) found.push(node);
    },
  });
  return found;
}

/**
 * Texts that a pattern has most work with: it begins to match again and again, or one of its repetitions goes on and on,
 * and what should follow never comes. Each is as long as asked, and none is there twice.
 */
export function writePills({ source, flags }: Pattern, length: number, random: Prng): string[] {
  const pattern = parse(source, flags);
  const fill = (before: string, unit: string): string[] =>
    unit === ''
      ? []
      : ['!', '\n!'].map((end) => {
          const times = Math.ceil((length - before.length - end.length) / unit.length);
          return `${before}${unit.repeat(Math.max(1, times))}${end}`;
        });
  const samplers = [
    new Sampler(flags, ([first]) => first),
    new Sampler(flags, (list) => random.pick(list)),
  ];
  const wholes = pattern.alternatives.flatMap((one) => {
    const whole = samplers.at(-1)?.take(one) ?? '';
    return [...fill('', whole), ...fill('', whole.slice(0, -1))];
  });
  const goingOn = listLong(pattern).flatMap((node) =>
    samplers.flatMap((sampler) => fill(sampler.leadTo(node), sampler.take(node.element))),
  );
  return [...new Set([...wholes, ...goingOn])];
}

/** Tried first where a pattern asks for a kind of character. */
const usual = Array.from(' :-=A7a/\n\\"x.,éﬁΩ日·');

type Pick = <T>(list: readonly T[]) => T | undefined;

/** Writes texts that parts of a pattern match. What stands for a condition on its surroundings is left out. */
class Sampler {
  readonly #flags: string;
  readonly #pick: Pick;

  constructor(flags: string, pick: Pick) {
    this.#flags = flags.replaceAll(/[gyd]/g, '');
    this.#pick = pick;
  }

  /** Builds the text that has to precede a part of the pattern so that the engine reaches it. */
  leadTo(node: AST.Node): string {
    const { parent } = node;
    if (parent === null || parent.type === 'Pattern') return '';
    const before =
      parent.type === 'Alternative'
        ? parent.elements.slice(
            0,
            parent.elements.findIndex((one) => one === node),
          )
        : [];
    return this.leadTo(parent) + before.map((one) => this.take(one)).join('');
  }

  take(node: AST.Alternative | AST.Element): string {
    switch (node.type) {
      case 'Alternative':
        return node.elements.map((one) => this.take(one)).join('');
      case 'Group':
      case 'CapturingGroup':
        return this.#takeAny(node.alternatives);
      case 'Quantifier':
        return Array.from({ length: Math.max(node.min, Math.min(1, node.max)) }, () =>
          this.take(node.element),
        ).join('');
      case 'Character':
        return String.fromCodePoint(node.value);
      case 'CharacterSet':
      case 'CharacterClass':
      case 'ExpressionCharacterClass':
        return this.#takeOneOf(node.raw);
      case 'Assertion':
      case 'Backreference':
        return '';
    }
  }

  #takeAny(alternatives: readonly AST.Alternative[]): string {
    const one = this.#pick(alternatives);
    return one === undefined ? '' : this.take(one);
  }

  #takeOneOf(raw: string): string {
    const fitting = new RegExp(`^${raw}$`, this.#flags);
    const common = usual.filter((one) => fitting.test(one));
    if (common.length > 0) return this.#pick(common) ?? '';
    for (let code = 0; code < 0x3000; code += 1) {
      if (fitting.test(String.fromCodePoint(code))) return String.fromCodePoint(code);
    }
    return '';
  }
}
