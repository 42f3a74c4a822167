/** Reads an effect that a delegation reports, field by field, because workflow code does not load zod. */
import type { CommandReceipt, EffectReceipt, RecordedEffect } from '../../contracts/effect.ts';
import { cutText } from '../text/cut-text.ts';
import { isRecord } from '../is-record.ts';

const states: readonly RecordedEffect['state'][] = [
  'intended',
  'confirmed',
  'unverified',
  'skipped',
  'failed',
  'denied',
];

/** Longest text of a report. It is cut there. */
const textCharsMax = 1_000;

const hash = /^[0-9a-f]{64}$/;

/** @returns null for a payload that no workflow of ours sends. */
export function readEffect(value: unknown): RecordedEffect | null {
  if (!isRecord(value)) return null;
  const origin = readOrigin(value);
  const state = states.find((one) => one === value['state']);
  const target = readText(value['target']);
  const reason = readText(value['reason']);
  const approval_question_id = readTextOrNull(value['approval_question_id']);
  const receipt = readReceipt(value['receipt']);
  const updated_at = readCount(value['updated_at']);
  if (origin === null || state === undefined || target === null || reason === null) return null;
  if (approval_question_id === undefined || receipt === undefined || updated_at === null) {
    return null;
  }
  return { ...origin, state, target, receipt, reason, approval_question_id, updated_at };
}

type Origin = Pick<
  RecordedEffect,
  'effect_id' | 'wave' | 'delegation_id' | 'agent_id' | 'tool' | 'arguments_ref'
>;

/** Reads the fields that are equal in all reports on one effect. */
function readOrigin(value: Readonly<Record<string, unknown>>): Origin | null {
  const effect_id = readText(value['effect_id']);
  const delegation_id = readText(value['delegation_id']);
  const agent_id = readText(value['agent_id']);
  const tool = readText(value['tool']);
  const arguments_ref = readHash(value['arguments_ref']);
  const wave = readCount(value['wave']);
  if (effect_id === null || delegation_id === null || agent_id === null) return null;
  if (tool === null || arguments_ref === null || wave === null) return null;
  return { effect_id, wave, delegation_id, agent_id, tool, arguments_ref };
}

/** Returns undefined for a value that is neither a receipt nor null. */
function readReceipt(value: unknown): EffectReceipt | null | undefined {
  if (value === null) return null;
  if (!isRecord(value)) return undefined;
  const target = readText(value['target']);
  const sha256 = readHash(value['sha256']);
  const bytes = readCount(value['bytes']);
  const replaced_ref = readHash(value['replaced_ref']);
  const content_ref = readHash(value['content_ref']);
  if (target === null || sha256 === null || bytes === null) return undefined;
  const command = readCommand(value['command']);
  return {
    target,
    sha256,
    bytes,
    ...(value['removed'] === true && { removed: true }),
    ...(replaced_ref !== null && { replaced_ref }),
    ...(content_ref !== null && { content_ref }),
    ...(command !== null && { command }),
    ...(value['call'] === true && { call: true }),
  };
}

function readCommand(value: unknown): CommandReceipt | null {
  if (!isRecord(value)) return null;
  const { exit_code, confined, output_ref } = value;
  return {
    exit_code: readCount(exit_code),
    confined: confined === true,
    output_ref: readHash(output_ref),
  };
}

/** Returns undefined for a value that is neither text nor null. */
function readTextOrNull(value: unknown): string | null | undefined {
  return value === null ? null : (readText(value) ?? undefined);
}

function readText(value: unknown): string | null {
  return typeof value === 'string' ? cutText(value, textCharsMax) : null;
}

function readHash(value: unknown): string | null {
  return typeof value === 'string' && hash.test(value) ? value : null;
}

function readCount(value: unknown): number | null {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : null;
}
