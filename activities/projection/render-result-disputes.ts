import type { Ref } from '../../contracts/ref.ts';
import type { RunRecord } from '../../contracts/run-record.ts';
import type { WaveDecision } from '../../contracts/wave-decision.ts';
import { findDisputes } from '../../core/pool/find-disputes.ts';
import type { Dispute } from '../../core/pool/find-disputes.ts';
import { findDissent } from '../../core/spec/read-spec.ts';
import { readTriadEnd } from '../../core/triad/bound-triad.ts';
import { listDeliverables } from './list-deliverables.ts';
import { bullets, cutLine, oneLine } from './markdown.ts';
import { treePaths } from './paths.ts';
import { textOf } from './record-texts.ts';
import type { RecordTexts } from './record-texts.ts';
import { resultLimits } from './result-limits.ts';

/** A deliverable whose triad did not agree on all of it. */
interface Disputed {
  readonly delegation_id: string;
  readonly wave: number;
  /** The report that has the disputes. */
  readonly dissent_ref: Ref;
  /** The planner's decision on the wave. */
  readonly decision_ref: Ref | null;
}

export function listDisputed(record: RunRecord): readonly Disputed[] {
  return listDeliverables(record).flatMap(({ delegation_id, wave, triad }) => {
    const dissent_ref = triad === undefined ? null : readTriadEnd(triad).dissent_ref;
    if (dissent_ref === null) return [];
    const decided = record.waves.find((one) => one.wave === wave);
    return [{ delegation_id, wave, dissent_ref, decision_ref: decided?.decision_ref ?? null }];
  });
}

/** What the result rests on although a triad did not settle it, and what the planner made of it. Null without any. */
export function renderMinorityReports(record: RunRecord, texts: RecordTexts): string | null {
  const parts = listDisputed(record).flatMap((one) => {
    const lines = describeDisputed(one, texts);
    return lines.length === 0 ? [] : [`### ${one.delegation_id}\n\n${listLines(one, lines)}`];
  });
  return parts.length === 0 ? null : ['## Minority reports', ...parts].join('\n\n');
}

function describeDisputed(
  { delegation_id, wave, dissent_ref, decision_ref }: Disputed,
  texts: RecordTexts,
): readonly string[] {
  const { spec } = textOf(texts.phases, dissent_ref).report;
  const decision = decision_ref === null ? null : textOf(texts.decisions, decision_ref);
  const disputes = findDisputes(wave, [
    { delegation_id, claims: spec.claims, dissent: findDissent(spec) },
  ]);
  return disputes.map((dispute) => {
    const sides = dispute.conflict.sides.map(
      ({ source, value }) => `${source.slice(source.lastIndexOf('/') + 1)}: ${value}`,
    );
    return `\`${dispute.section_id}\`: ${sides.join('; ')}. ${describeRuling(dispute, decision)}`;
  });
}

function describeRuling({ conflict }: Dispute, decision: WaveDecision | null): string {
  const ruling = decision?.planner_decision.conflicts_resolved.find(
    (one) => one.conflict.trim() === conflict.conflict_id,
  );
  if (ruling === undefined) return 'Nobody has decided it.';
  return `The planner let ${oneLine(ruling.origin)} stand: ${ruling.resolution}`;
}

function listLines({ delegation_id }: Disputed, lines: readonly string[]): string {
  const whole = treePaths.triadPhase(delegation_id, 'execute');
  const shown = lines.map((line) => cutLine(line, { charsMax: resultLimits.lineCharsMax, whole }));
  return bullets([...shown, `What each of them says: ${whole}`], '');
}
