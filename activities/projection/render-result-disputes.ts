import type { Ref } from '../../contracts/ref.ts';
import type { RunRecord } from '../../contracts/run-record.ts';
import type { WaveDecision } from '../../contracts/wave-decision.ts';
import { findDisputes } from '../../core/pool/find-disputes.ts';
import type { Dispute, TriadDissent } from '../../core/pool/find-disputes.ts';
import { findDissent } from '../../core/spec/read-spec.ts';
import { readEnd } from '../../core/executor.ts';
import { listDeliverables } from './list-deliverables.ts';
import { bullets, cutLine, oneLine } from './markdown.ts';
import { treePaths } from './paths.ts';
import { textOf } from './record-texts.ts';
import type { RecordTexts } from './record-texts.ts';
import { resultLimits } from './result-limits.ts';

/** A deliverable whose triad did not agree on all of it, or whose team may have triads that did not. */
interface Disputed {
  readonly delegation_id: string;
  readonly wave: number;
  /** Of the triad's phase that has the disputes. */
  readonly dissent_ref: Ref | null;
  /** Of the team. */
  readonly team_ref: Ref | null;
  /** The planner's decision on the wave. */
  readonly decision_ref: Ref | null;
}

export function listDisputed(record: RunRecord): readonly Disputed[] {
  return listDeliverables(record).flatMap((outcome) => {
    const end = readEnd(outcome.executor);
    const dissent_ref = end?.kind === 'triad' ? end.dissent_ref : null;
    const team_ref = end?.kind === 'team' ? end.report_ref : null;
    if (dissent_ref === null && team_ref === null) return [];
    const { delegation_id, wave } = outcome;
    const decision_ref = record.waves.find((one) => one.wave === wave)?.decision_ref ?? null;
    return [{ delegation_id, wave, dissent_ref, team_ref, decision_ref }];
  });
}

/** What the result rests on although a triad did not settle it, and what the planner made of it. Null without any. */
export function renderMinorityReports(record: RunRecord, texts: RecordTexts): string | null {
  const parts = listDisputed(record).flatMap((one) => {
    const decision = one.decision_ref === null ? null : textOf(texts.decisions, one.decision_ref);
    return dissentOf(one, texts).flatMap((dissent) => {
      const lines = findDisputes(one.wave, [dissent]).map((two) => describeDispute(two, decision));
      const { delegation_id } = dissent;
      return lines.length === 0
        ? []
        : [`### ${delegation_id}\n\n${listLines(delegation_id, lines)}`];
    });
  });
  return parts.length === 0 ? null : ['## Minority reports', ...parts].join('\n\n');
}

function dissentOf(
  { delegation_id, dissent_ref, team_ref }: Disputed,
  texts: RecordTexts,
): readonly TriadDissent[] {
  const ofTeam = team_ref === null ? [] : textOf(texts.teams, team_ref).dissent;
  if (dissent_ref === null) return ofTeam;
  const { spec } = textOf(texts.phases, dissent_ref).report;
  return [...ofTeam, { delegation_id, claims: spec.claims, dissent: findDissent(spec) }];
}

function describeDispute(dispute: Dispute, decision: WaveDecision | null): string {
  const sides = dispute.conflict.sides.map(
    ({ source, value }) => `${source.slice(source.lastIndexOf('/') + 1)}: ${value}`,
  );
  return `\`${dispute.section_id}\`: ${sides.join('; ')}. ${describeRuling(dispute, decision)}`;
}

function describeRuling({ conflict }: Dispute, decision: WaveDecision | null): string {
  const ruling = decision?.planner_decision.conflicts_resolved.find(
    (one) => one.conflict.trim() === conflict.conflict_id,
  );
  if (ruling === undefined) return 'Nobody has decided it.';
  return `The planner let ${oneLine(ruling.origin)} stand: ${ruling.resolution}`;
}

function listLines(delegationId: string, lines: readonly string[]): string {
  const whole = treePaths.triadPhase(delegationId, 'execute');
  const shown = lines.map((line) => cutLine(line, { charsMax: resultLimits.lineCharsMax, whole }));
  return bullets([...shown, `What each of them says: ${whole}`], '');
}
